#include "bench/train/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/comm/record.h"
#include "trireme/base/check.h"

namespace trireme::bench::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRow =
    "{:<8} {:<9} {:>5} {:>7} {:<9} {:<10} {:>15} {:>10} {:>10} {:>8} {:>8}  {}";

constexpr const char* kScalingRow =
    "{:>5} {:>15} {:>10} {:>10}   {:>8} {:>8} {:>8} {:>8} {:>8}  {}\n";

// Milliseconds more than with one rank.
std::string more(double here, double alone) {
  return fmt::format("{:+.1f}", 1e3 * (here - alone));
}

std::string mebibytes(std::int64_t bytes) {
  return fmt::format("{:.0f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string parts_text(const trireme::train::StepTimes& parts) {
  const double total = parts.total();
  if (total <= 0) return "";
  return fmt::format("{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} %", 100 * parts.data / total,
                     100 * parts.forward / total, 100 * parts.backward / total,
                     100 * parts.wait / total, 100 * parts.update / total);
}

std::string hidden_text(const TrainRecord& record) {
  if (record.communication_seconds <= 0) return "";
  return fmt::format("; {:.0f} % of {} exchange hidden", 100 * hidden_share(record),
                     time_text(record.communication_seconds));
}

std::string wire_text(const TrainRecord& record) {
  if (record.wire_bytes_per_step <= 0) return "";
  return fmt::format("; {:.4g} MB a step on the wire", record.wire_bytes_per_step / 1e6);
}

// All fields of the JSON line in their order, except parts: calls `visit(name, member)`, or
// `visit(name, member, false)` for a field that a program may leave out.
template <class Line, class Visit>
void visit_fields(Line& record, const Visit& visit) {
  visit("model", record.model);
  visit("ranks", record.ranks);
  visit("precision", record.precision);
  visit("sync", record.sync);
  visit("units_per_second", record.units_per_second);
  visit("unit", record.unit);
  visit("seconds_per_step", record.seconds_per_step);
  visit("cpu_seconds_per_step", record.cpu_seconds_per_step);
  visit("peak_bytes", record.peak_bytes);
  visit("pss_bytes", record.pss_bytes);
  visit("by", record.who);
  visit("threads", record.threads);
  visit("apart", record.is_apart, false);
  visit("elastic", record.is_elastic, false);
  visit("codec", record.codec, false);
  visit("wire", record.wire, false);
  visit("bytes_per_step", record.bytes_per_step, false);
  visit("wire_bytes_per_step", record.wire_bytes_per_step, false);
  visit("steps", record.steps);
  visit("verified", record.is_verified);
}

template <class Parts, class Visit>
void visit_parts(Parts& parts, const Visit& visit) {
  visit("data", parts.data);
  visit("forward", parts.forward);
  visit("backward", parts.backward);
  visit("wait", parts.wait);
  visit("update", parts.update);
}

auto writer_to(Json& json) {
  return [&json](const char* name, const auto& member, bool = true) { json[name] = member; };
}

auto reader_of(const Json& json) {
  return [&json](const char* name, auto& member, bool is_required = true) {
    if (is_required || json.contains(name)) json.at(name).get_to(member);
  };
}

TrainRecord from_json(const Json& json) {
  TrainRecord record;
  visit_fields(record, reader_of(json));
  if (json.contains("parts")) visit_parts(record.parts, reader_of(json.at("parts")));
  record.communication_seconds = json.value("communication_seconds", 0.0);
  return record;
}

}  // namespace

double hidden_share(const TrainRecord& record) {
  if (record.communication_seconds <= 0) return 1;
  return std::clamp(1 - record.parts.wait / record.communication_seconds, 0.0, 1.0);
}

std::string table_head() {
  return fmt::format(kRow, "by", "model", "ranks", "threads", "precision", "sync", "units/s",
                     "a step", "of CPU", "peak", "PSS", "data, forward, backward, wait, update");
}

std::string table_line(const TrainRecord& record) {
  std::string rest = parts_text(record.parts) + hidden_text(record) + wire_text(record);
  if (!record.is_verified) rest += rest.empty() ? "WRONG" : "  WRONG";
  return fmt::format(kRow, record.who, record.model, record.ranks, record.threads, record.precision,
                     record.sync + (record.is_apart ? ", apart" : "") +
                         (record.is_elastic ? ", elastic" : "") +
                         (record.codec == "none" ? "" : ", " + record.codec),
                     fmt::format("{:.0f} {}", record.units_per_second, record.unit),
                     time_text(record.seconds_per_step), time_text(record.cpu_seconds_per_step),
                     mebibytes(record.peak_bytes), mebibytes(record.pss_bytes), rest);
}

std::string to_json(const TrainRecord& record) {
  Json json;
  visit_fields(record, writer_to(json));
  if (record.parts.total() > 0) {
    visit_parts(record.parts, writer_to(json["parts"]));
    json["communication_seconds"] = record.communication_seconds;
  }
  return json.dump();
}

std::optional<TrainRecord> read_record(std::string_view line) try {
  return from_json(Json::parse(line));
} catch (const Json::exception&) {
  return std::nullopt;
}

std::string scaling_table(std::span<const TrainRecord> records, int cores) {
  TRIREME_CHECK(!records.empty() && records[0].ranks == 1, "scaling begins with one rank");
  const TrainRecord& alone = records[0];
  std::string table =
      fmt::format(kScalingRow, "ranks", "units/s", "efficiency", "a step", "data", "forward",
                  "backward", "wait", "update", "(milliseconds more than alone)");
  for (const TrainRecord& record : records) {
    const double efficiency = record.units_per_second / (record.ranks * alone.units_per_second);
    const int busy = record.ranks * record.threads;
    const std::string note = busy > cores
                                 ? fmt::format("{} threads share {} cores: at best {:.2f}", busy,
                                               cores, static_cast<double>(cores) / busy)
                                 : "";
    table += fmt::format(
        kScalingRow, record.ranks, fmt::format("{:.0f} {}", record.units_per_second, record.unit),
        fmt::format("{:.2f}", efficiency), time_text(record.seconds_per_step),
        more(record.parts.data, alone.parts.data), more(record.parts.forward, alone.parts.forward),
        more(record.parts.backward, alone.parts.backward),
        more(record.parts.wait, alone.parts.wait), more(record.parts.update, alone.parts.update),
        note);
  }
  return table;
}

}  // namespace trireme::bench::train
