#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>

#include "trireme/cli/commands.h"
#include "trireme/cluster/launch/job/remote.h"

namespace trireme::cli {
namespace {

constexpr int kWorkersMax = 128;
constexpr auto kAskTime = std::chrono::seconds(10);

struct ScaleRequest {
  std::string name;
  int workers = 0;
};

std::string set_workers(int& workers, const std::string& text) {
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, workers);
  if (read.ec == std::errc() && read.ptr == end && workers >= 1 && workers <= kWorkersMax) {
    return {};
  }
  return text + ": the number of workers is 1 to " + std::to_string(kWorkersMax);
}

int scale(const ScaleRequest& request) {
  const auto job = cluster::launch::job::find_job(request.name);
  cluster::launch::job::scale_job(job, request.workers, Deadline::after(kAskTime));
  std::printf("%s: %d wanted, %d there so far\n", request.name.c_str(), request.workers,
              job.card.living);
  return 0;
}

}  // namespace

Command scale_command() {
  Command command("scale", "Change the number of workers of a running elastic job",
                  "trireme scale brisk-heron 6");
  const auto request = std::make_shared<ScaleRequest>();
  command.argument("JOB", "the job's name, as `trireme jobs` lists it", set_text(request->name));
  command.argument("N", "number of workers", [request](const std::string& text) {
    return set_workers(request->workers, text);
  });
  command.action([request] { return scale(*request); });
  return command;
}

}  // namespace trireme::cli
