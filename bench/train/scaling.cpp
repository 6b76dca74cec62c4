#include "bench/train/scaling.h"

#include <fmt/format.h>

#include "bench/comm/record.h"
#include "trireme/base/check.h"

namespace trireme::bench::train {
namespace {

constexpr const char* kRow = "{:>5} {:>15} {:>10} {:>10}   {:>8} {:>8} {:>8} {:>8} {:>8}  {}\n";

// Milliseconds more than with one rank.
std::string more(double here, double alone) {
  return fmt::format("{:+.1f}", 1e3 * (here - alone));
}

}  // namespace

std::string scaling_table(std::span<const TrainRecord> records, int cores) {
  TRIREME_CHECK(!records.empty() && records[0].ranks == 1, "scaling begins with one rank");
  const TrainRecord& alone = records[0];
  std::string table =
      fmt::format(kRow, "ranks", "units/s", "efficiency", "a step", "data", "forward", "backward",
                  "wait", "update", "(milliseconds more than alone)");
  for (const TrainRecord& record : records) {
    const double efficiency = record.units_per_second / (record.ranks * alone.units_per_second);
    const int busy = record.ranks * record.threads;
    const std::string note = busy > cores
                                 ? fmt::format("{} threads share {} cores: at best {:.2f}", busy,
                                               cores, static_cast<double>(cores) / busy)
                                 : "";
    table += fmt::format(
        kRow, record.ranks, fmt::format("{:.0f} {}", record.units_per_second, record.unit),
        fmt::format("{:.2f}", efficiency), time_text(record.seconds_per_step),
        more(record.parts.data, alone.parts.data), more(record.parts.forward, alone.parts.forward),
        more(record.parts.backward, alone.parts.backward),
        more(record.parts.wait, alone.parts.wait), more(record.parts.update, alone.parts.update),
        note);
  }
  return table;
}

}  // namespace trireme::bench::train
