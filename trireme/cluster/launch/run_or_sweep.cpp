#include "trireme/cluster/launch/run_or_sweep.h"

#include <unistd.h>

#include <chrono>
#include <string>

#include "trireme/base/exit_status.h"
#include "trireme/cluster/launch/host/process_tree.h"

namespace trireme::cluster::launch {
namespace {

constexpr auto kSweepTime = std::chrono::seconds(10);

}  // namespace

int run_or_sweep(const job::Folder& folder, const std::function<int()>& body) noexcept {
  int code = kExitFailure;
  try {
    code = body();
  } catch (const std::exception& error) {
    const std::string text = std::string("trireme: ") + error.what() + "\n";
    [[maybe_unused]] const ssize_t size = write(STDERR_FILENO, text.data(), text.size());
    host::kill_descendants(Deadline::after(kSweepTime), [](pid_t, int) {});
  }
  folder.remove();
  // A job inside this job may have had all its watching processes killed together.
  job::sweep_quietly(folder.path().parent_path());
  return code;
}

}  // namespace trireme::cluster::launch
