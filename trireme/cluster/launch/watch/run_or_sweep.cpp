#include "trireme/cluster/launch/watch/run_or_sweep.h"

#include <unistd.h>

#include <string>

#include "trireme/base/exit_status.h"
#include "trireme/cluster/launch/host/process_tree.h"

namespace trireme::cluster::launch {

void say(const std::string& text) {
  const std::string line = "trireme: " + text + "\n";
  [[maybe_unused]] const ssize_t size = write(STDERR_FILENO, line.data(), line.size());
}

void sweep_after(const std::string& victim, int signal, const job::Folder& folder) {
  const std::size_t left =
      host::kill_descendants(Deadline::after(host::kKillTime), [](pid_t, int) {});
  folder.remove();
  // A job inside this job may have had all its watching processes killed together.
  job::sweep_quietly(folder.path().parent_path());
  if (victim.empty()) return;
  say(victim + " was killed by signal " + std::to_string(signal) +
      (left == 0 ? "; every process of the job was ended" : "; some processes could not be ended"));
}

int run_or_sweep(const job::Folder& folder, const std::function<int()>& body) noexcept {
  int code = kExitFailure;
  try {
    code = body();
  } catch (const std::exception& error) {
    say(error.what());
    host::kill_descendants(Deadline::after(host::kKillTime), [](pid_t, int) {});
  }
  folder.remove();
  // A job inside this job may have had all its watching processes killed together.
  job::sweep_quietly(folder.path().parent_path());
  return code;
}

}  // namespace trireme::cluster::launch
