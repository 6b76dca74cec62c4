#include <chrono>
#include <cstdio>
#include <memory>

#include "trireme/cli/commands.h"
#include "trireme/cluster/launch/job/remote.h"

namespace trireme::cli {
namespace {

constexpr auto kAskTime = std::chrono::seconds(10);

int join(const std::string& name) {
  const auto job = cluster::launch::job::find_job(name);
  const int worker = cluster::launch::job::join_job(job, Deadline::after(kAskTime));
  std::printf("worker %d\n", worker);
  return 0;
}

}  // namespace

Command join_command() {
  Command command("join", "Add one worker to a running elastic job of this host",
                  "trireme join brisk-heron");
  const auto name = std::make_shared<std::string>();
  command.argument("JOB", "the job's name, as `trireme jobs` lists it",
                   [name](const std::string& text) {
                     *name = text;
                     return std::string();
                   });
  command.action([name] { return join(*name); });
  return command;
}

}  // namespace trireme::cli
