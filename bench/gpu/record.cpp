#include "bench/gpu/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace trireme::bench::gpu {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRow = "{:<16} {:<9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  {}";
// By which the first loss may differ from the expected one: that of 2^14 tokens has a standard
// deviation of less than 0.01, and a loss in bfloat16 is rounded to 0.06.
constexpr double kLossSlack = 0.15;

// The measured fields of the JSON line.
template <class Record, class Visit>
void visit_fields(Record& record, const Visit& visit) {
  visit("by", record.who);
  visit("precision", record.precision);
  visit("seconds_per_step", record.seconds_per_step);
  visit("busy_seconds_per_step", record.busy_seconds_per_step);
  visit("bound_flops_per_second", record.bound_flops_per_second);
  visit("steps", record.steps);
  visit("peak_bytes", record.peak_bytes);
  visit("first_loss", record.first_loss);
  visit("last_loss", record.last_loss);
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

}  // namespace

double GpuRecord::tokens_per_second() const {
  return seconds_per_step > 0 ? static_cast<double>(what.tokens()) / seconds_per_step : 0;
}

double GpuRecord::flops_per_second() const {
  return tokens_per_second() * gpt_named(what.model).flops_per_token(what.context);
}

double GpuRecord::idle_share() const {
  if (busy_seconds_per_step <= 0 || seconds_per_step <= 0) return 0;
  return std::max(0.0, 1 - busy_seconds_per_step / seconds_per_step);
}

std::string GpuRecord::mistake() const {
  const double expected = gpt_named(what.model).first_loss();
  if (!std::isfinite(first_loss) || !std::isfinite(last_loss)) return "a loss is not finite";
  if (std::abs(first_loss - expected) > kLossSlack) {
    return fmt::format("the first loss is {:.3f} instead of {:.3f}", first_loss, expected);
  }
  if (last_loss >= first_loss) {
    return fmt::format("the loss went from {:.3f} to {:.3f}", first_loss, last_loss);
  }
  return {};
}

std::string table_head() {
  return fmt::format(kRow, "by", "bf16", "tokens/s", "ms/step", "TFLOP/s", "of bound", "GPU idle",
                     "memory", "loss");
}

std::string table_line(const GpuRecord& record, double bound_flops_per_second) {
  const double flops = record.flops_per_second();
  const std::string mistake = record.mistake();
  const bool has_bound = bound_flops_per_second > 0, is_profiled = record.busy_seconds_per_step > 0;
  return fmt::format(
      kRow, record.who, record.precision, fmt::format("{:.0f}", record.tokens_per_second()),
      fmt::format("{:.2f}", 1e3 * record.seconds_per_step), fmt::format("{:.1f}", flops / 1e12),
      has_bound ? percent(flops / bound_flops_per_second) : "?",
      is_profiled ? percent(record.idle_share()) : "?",
      fmt::format("{:.1f} GiB", static_cast<double>(record.peak_bytes) / (1 << 30)),
      fmt::format("{:.3f} to {:.3f} in {} steps", record.first_loss, record.last_loss,
                  record.steps) +
          (mistake.empty() ? "" : "  WRONG: " + mistake));
}

std::string to_json(const GpuRecord& record) {
  Json json{{"model", record.what.model},
            {"batch", record.what.sequences()},
            {"context", record.what.context},
            {"max_grad_norm", record.what.max_grad_norm},
            {"tokens_per_second", record.tokens_per_second()},
            {"flops_per_second", record.flops_per_second()},
            {"idle_share", record.idle_share()}};
  visit_fields(record, [&](const char* name, const auto& member) { json[name] = member; });
  json["verified"] = record.mistake().empty();
  return json.dump();
}

std::optional<GpuRecord> read_record(std::string_view line, const GpuCase& what) try {
  const Json json = Json::parse(line);
  GpuRecord record{.what = what};
  visit_fields(record, [&](const char* name, auto& member) {
    // JSON has no numbers that are not finite; they become null.
    using Member = std::remove_reference_t<decltype(member)>;
    if constexpr (std::is_same_v<Member, double>) {
      if (json.at(name).is_null()) {
        member = std::nan("");
        return;
      }
    }
    json.at(name).get_to(member);
  });
  return record;
} catch (const Json::exception&) {
  return std::nullopt;
}

}  // namespace trireme::bench::gpu
