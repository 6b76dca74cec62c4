#include <cstdio>
#include <memory>

#include "trireme/cli/commands.h"
#include "trireme/cluster/launch/job/remote.h"

namespace trireme::cli {
namespace {

int watch(const std::string& name) {
  const auto job = cluster::launch::job::find_job(name);
  cluster::launch::job::watch_job(job, [](std::string_view line) {
    std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
    return std::fflush(stdout) == 0;
  });
  return 0;
}

}  // namespace

Command watch_command() {
  Command command("watch", "Follow the events of a running job, a JSON object a line",
                  "trireme watch brisk-heron");
  const auto name = std::make_shared<std::string>();
  command.argument("JOB", "the job's name, as `trireme jobs` lists it", [name](const auto& text) {
    *name = text;
    return std::string();
  });
  command.action([name] { return watch(*name); });
  return command;
}

}  // namespace trireme::cli
