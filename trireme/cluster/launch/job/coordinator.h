// The coordinator of an elastic job is a separate process, `trireme coordinate FOLDER`, that serves
// the job's store at FOLDER/store.sock and keeps the persistent state in FOLDER/store.log, so that
// it can be killed and restarted while the job continues training.
//
// Hosts:         with `listen`, an address of this host that other hosts can reach, it serves the
//                store there and not in the folder. FOLDER/store.address contains the address; a
//                replacement uses the same port.
// Single:        the coordinator that was started last takes over: it kills the previous one, which
//                is recorded in FOLDER/coordinator, even if that one is frozen, and waits until it
//                is dead before it opens the log. So an old coordinator can never answer again.
// End:           when the job's folder is gone; or once no process has watched the job for
//                `orphan_timeout`: it then kills the remaining processes of the job and removes the
//                folder. It is killed when the job ends.
// Errors:        throws Deadline when the previous coordinator does not die; what net::Server and
//                StoreLog throw.
// Thread safety: uses the calling thread, and the server's.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"
#include "trireme/base/file/descriptor.h"

namespace trireme::cluster::launch::job {

struct CoordinatorOptions {
  std::filesystem::path folder;
  Duration orphan_timeout = std::chrono::seconds(60);
  std::string listen{};  // tcp://..., port 0 for any; empty: only on this host
};

// Serves until it has to end. Returns the exit code.
int run_coordinator(const CoordinatorOptions& options);

// The lock that makes a process the coordinator of a folder, held while the descriptor is open.
// Kills the current holder and waits until it is dead. Throws Deadline, Io.
Descriptor take_over(const std::filesystem::path& folder, Deadline deadline);

// The address of a coordinator with `listen`, once one has been started.
std::optional<std::string> store_address_of(const std::filesystem::path& folder);

// The process that holds the lock now.
std::optional<pid_t> coordinator_of(const std::filesystem::path& folder);

}  // namespace trireme::cluster::launch::job
