#include <chrono>
#include <memory>

#include "trireme/cli/commands.h"
#include "trireme/cluster/launch/job/remote.h"

namespace trireme::cli {
namespace {

struct StopRequest {
  std::string name;
  bool is_kill = false;
};

// Longer than any reasonable --grace; a job with a longer one continues to shut down by itself.
constexpr auto kStopTime = std::chrono::seconds(60);

int stop(const StopRequest& request) {
  const auto job = cluster::launch::job::find_job(request.name);
  cluster::launch::job::stop_job(job, request.is_kill, Deadline::after(kStopTime));
  return 0;
}

}  // namespace

Command stop_command() {
  Command command("stop", "End a running job and wait until it is gone",
                  "trireme stop brisk-heron");
  command.example("trireme stop --kill brisk-heron");
  const auto request = std::make_shared<StopRequest>();
  command.argument("JOB", "the job's name, as `trireme jobs` lists it",
                   [request](const std::string& text) {
                     request->name = text;
                     return std::string();
                   });
  command.flag("--kill", "kill the ranks at once, instead of asking them to end (SIGTERM)",
               request->is_kill);
  command.action([request] { return stop(*request); });
  return command;
}

}  // namespace trireme::cli
