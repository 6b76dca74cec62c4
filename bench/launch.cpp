#include "bench/launch.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

namespace trireme::bench {

Launch Launch::find() {
  std::filesystem::path namespaces = beside("bench/namespaces.sh");
  if (namespaces.empty()) namespaces = beside("../libexec/trireme/namespaces.sh");
  return {beside("trireme"), namespaces, ::geteuid() == 0};
}

cli::Program Launch::ranks(int count, const std::filesystem::path& program, bool is_bound) const {
  cli::Program run{{trireme.string(), "run", "-n", std::to_string(count)}};
  if (!is_bound) run.words.insert(run.words.end(), {"--bind", "none"});
  run.words.insert(run.words.end(), {"--", program.string()});
  return run;
}

cli::Program Launch::over_wire(int each, double bits_per_second,
                               const std::filesystem::path& program) const {
  // SIGKILL suffices: the PID namespace of the script, with all its processes, ends with the first
  // process in it.
  return {{namespaces.string(), "--each", std::to_string(each),
           fmt::format("{:.0f}", bits_per_second), program.string()},
          SIGKILL};
}

std::string Launch::why_no_wire() const {
  if (namespaces.empty()) return "no namespaces: bench/namespaces.sh is missing";
  return is_root ? "" : "no namespaces: only root may make them";
}

}  // namespace trireme::bench
