#include "trireme/monitor/step_line.h"

#include <cinttypes>
#include <cstdio>

namespace trireme::monitor {

std::string StepLine::to_text() const {
  char text[256];
  std::snprintf(
      text, sizeof(text),
      "%s %" PRId64 " %d %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %a\n",
      is_begin ? "begins" : "step", nanoseconds, worker, epoch, step, samples, pass, cursor, loss);
  return text;
}

std::optional<StepLine> StepLine::parse(std::string_view text) {
  const std::string line(text);
  char what[8];
  StepLine all;
  int end = 0;
  const int read = std::sscanf(line.c_str(),
                               "%7s %" SCNd64 " %d %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
                               " %" SCNd64 " %la%n",
                               what, &all.nanoseconds, &all.worker, &all.epoch, &all.step,
                               &all.samples, &all.pass, &all.cursor, &all.loss, &end);
  if (read != 9 || static_cast<std::size_t>(end) != line.size()) return std::nullopt;
  all.is_begin = std::string_view(what) == "begins";
  if (!all.is_begin && std::string_view(what) != "step") return std::nullopt;
  return all;
}

}  // namespace trireme::monitor
