#include "bench/train/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/comm/record.h"

namespace trireme::bench::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRow =
    "{:<8} {:<9} {:>5} {:>7} {:<9} {:<10} {:>15} {:>10} {:>10} {:>8} {:>8}  {}";

std::string mebibytes(std::int64_t bytes) {
  return fmt::format("{:.0f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string parts_text(const StepParts& parts) {
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

TrainRecord from_json(const Json& json) {
  TrainRecord record;
  record.model = json.at("model").get<std::string>();
  record.ranks = json.at("ranks").get<int>();
  record.precision = json.at("precision").get<std::string>();
  record.sync = json.at("sync").get<std::string>();
  record.units_per_second = json.at("units_per_second").get<double>();
  record.unit = json.at("unit").get<std::string>();
  record.seconds_per_step = json.at("seconds_per_step").get<double>();
  record.cpu_seconds_per_step = json.at("cpu_seconds_per_step").get<double>();
  record.peak_bytes = json.at("peak_bytes").get<std::int64_t>();
  record.pss_bytes = json.at("pss_bytes").get<std::int64_t>();
  record.who = json.at("by").get<std::string>();
  record.threads = json.at("threads").get<int>();
  record.is_apart = json.value("apart", false);
  record.is_elastic = json.value("elastic", false);
  record.codec = json.value("codec", "none");
  record.wire = json.value("wire", 0.0);
  record.bytes_per_step = json.value("bytes_per_step", 0.0);
  record.wire_bytes_per_step = json.value("wire_bytes_per_step", 0.0);
  record.communication_seconds = json.value("communication_seconds", 0.0);
  record.steps = json.at("steps").get<std::int64_t>();
  record.is_verified = json.at("verified").get<bool>();
  if (const auto parts = json.find("parts"); parts != json.end()) {
    record.parts = {.data = parts->at("data").get<double>(),
                    .forward = parts->at("forward").get<double>(),
                    .backward = parts->at("backward").get<double>(),
                    .wait = parts->at("wait").get<double>(),
                    .update = parts->at("update").get<double>()};
  }
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
  Json json = {{"model", record.model},
               {"ranks", record.ranks},
               {"precision", record.precision},
               {"sync", record.sync},
               {"units_per_second", record.units_per_second},
               {"unit", record.unit},
               {"seconds_per_step", record.seconds_per_step},
               {"cpu_seconds_per_step", record.cpu_seconds_per_step},
               {"peak_bytes", record.peak_bytes},
               {"pss_bytes", record.pss_bytes},
               {"by", record.who},
               {"threads", record.threads},
               {"apart", record.is_apart},
               {"elastic", record.is_elastic},
               {"codec", record.codec},
               {"wire", record.wire},
               {"bytes_per_step", record.bytes_per_step},
               {"wire_bytes_per_step", record.wire_bytes_per_step},
               {"steps", record.steps},
               {"verified", record.is_verified}};
  if (record.parts.total() > 0) {
    json["parts"] = {{"data", record.parts.data},
                     {"forward", record.parts.forward},
                     {"backward", record.parts.backward},
                     {"wait", record.parts.wait},
                     {"update", record.parts.update}};
    json["communication_seconds"] = record.communication_seconds;
  }
  return json.dump();
}

std::optional<TrainRecord> read_record(std::string_view line) {
  if (!line.starts_with("{\"model\":")) return std::nullopt;
  const Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  try {
    return from_json(json);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace trireme::bench::train
