#include "bench/comm/record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "trireme/base/text/quantity.h"

namespace trireme::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRow = "{:<14} {:<8} {:>5} {:>10} {:<9} {:<9} {:>10} {:>10} {:>11}  {}";

double rate_of(const BoundRecord& bound, std::size_t bytes) {
  return bound.seconds > 0 ? static_cast<double>(bytes) / bound.seconds : 0;
}

std::string bounds_text(const CommRecord& record) {
  if (record.bounds.empty()) return "";
  std::string text = fmt::format("{:.2f} of", record.share_of_bound().value_or(0));
  for (std::size_t i = 0; i < record.bounds.size(); ++i) {
    const BoundRecord& bound = record.bounds[i];
    text += fmt::format("{} {} {}", i == 0 ? "" : ";", bound.name,
                        rate_text(rate_of(bound, record.bytes)));
  }
  return text;
}

Json bound_fields(const CommRecord& record) {
  if (record.bounds.empty()) return nullptr;
  const BoundRecord& first = record.bounds.front();
  return {{"name", first.name},
          {"bytes_per_second", rate_of(first, record.bytes)},
          {"share", record.share_of_bound().value_or(0)}};
}

Json public_fields(const CommRecord& record) {
  return {{"op", record.op},
          {"backend", record.backend},
          {"ranks", record.ranks},
          {"bytes", record.bytes},
          {"symmetric", record.is_symmetric},
          {"seconds", record.seconds},
          {"bytes_per_second", record.bytes_per_second()},
          {"verified", record.is_verified},
          {"type", record.type},
          {"p50", record.seconds},
          {"p99", record.p99},
          {"bound", bound_fields(record)},
          {"wire", record.wire > 0 ? Json(record.wire) : Json(nullptr)}};
}

// An absent or null field means that the value is unknown.
double number_or(const Json& json, const char* name, double other) {
  const auto found = json.find(name);
  return found == json.end() || found->is_null() ? other : found->get<double>();
}

CommRecord from_json(const Json& json) {
  CommRecord record;
  record.op = json.at("op").get<std::string>();
  record.backend = json.at("backend").get<std::string>();
  record.type = json.value("type", "float32");
  record.ranks = json.at("ranks").get<int>();
  record.bytes = json.at("bytes").get<std::size_t>();
  record.is_symmetric = json.at("symmetric").get<bool>();
  record.seconds = json.at("seconds").get<double>();
  record.p99 = number_or(json, "p99", record.seconds);
  record.wire = number_or(json, "wire", 0);
  record.is_verified = json.at("verified").get<bool>();
  for (const Json& bound : json.value("bounds", Json::array())) {
    record.bounds.push_back(
        {bound.at("name").get<std::string>(), bound.at("seconds").get<double>()});
  }
  return record;
}

}  // namespace

std::optional<double> CommRecord::share_of_bound() const noexcept {
  if (bounds.empty() || seconds <= 0) return std::nullopt;
  return bounds.front().seconds / seconds;
}

bool CommRecord::is_same_case(const CommRecord& other) const noexcept {
  return Case::operator==(other) && bytes == other.bytes;
}

std::string table_head() {
  return fmt::format(kRow, "op", "backend", "ranks", "bytes", "type", "symmetric", "p50", "p99",
                     "GB/s", "share of bound");
}

std::string table_line(const CommRecord& record) {
  std::string rest = bounds_text(record);
  if (!record.is_verified) rest += rest.empty() ? "WRONG" : "  WRONG";
  return fmt::format(kRow, record.op, record.backend, record.ranks, size_text(record.bytes),
                     record.type, record.is_symmetric ? "yes" : "no", time_text(record.seconds),
                     time_text(record.p99), fmt::format("{:.3f}", record.bytes_per_second() / 1e9),
                     rest);
}

std::string to_public_json(const CommRecord& record) {
  return public_fields(record).dump();
}

std::string to_json(const CommRecord& record) {
  Json json = public_fields(record);
  json["bounds"] = Json::array();
  for (const BoundRecord& bound : record.bounds) {
    json["bounds"].push_back({{"name", bound.name}, {"seconds", bound.seconds}});
  }
  return json.dump();
}

std::optional<CommRecord> read_record(std::string_view line) try {
  return from_json(Json::parse(line));
} catch (const Json::exception&) {
  return std::nullopt;
}

std::string size_text(std::size_t bytes) {
  return to_text(ByteSize{bytes});
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string rate_text(double bytes_per_second) {
  return fmt::format("{:.2f} GB/s", bytes_per_second / 1e9);
}

}  // namespace trireme::bench
