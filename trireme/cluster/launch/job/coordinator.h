// The coordinator of an elastic job is a process of its own, `trireme coordinate FOLDER`, that
// serves the job's store at FOLDER/store.sock and keeps what must last in FOLDER/store.log, so
// that it can be killed and started again while the job trains on.
//
// Hosts:   with `listen`, an address of this host that others reach, it serves the store there and
//          not in the folder. FOLDER/store.address says where; whoever comes after it takes the
//          same port.
// One:     whoever is started last takes over: it kills the one before, which FOLDER/coordinator
//          names, and sees it dead before it opens the log. A frozen one too; so an old one that
//          comes back can never answer.
// End:     with the job's folder; or once nobody has watched the job for `orphan_timeout`: it then
//          ends what is left of the job and removes the folder. Killed when the job ends.
// Failure: throws Deadline when the one before does not die; what net::Server and StoreLog throw.
// Threads: the calling one, and the server's.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"
#include "trireme/base/descriptor.h"

namespace trireme::cluster::launch::job {

struct CoordinatorOptions {
  std::filesystem::path folder;
  Duration orphan_timeout = std::chrono::seconds(60);
  std::string listen{};  // tcp://..., port 0 for any; empty: on this host alone
};

// Serves until it has to end. Returns the exit code.
int run_coordinator(const CoordinatorOptions& options);

// The right to be the coordinator of a folder, held while the descriptor is open. Kills the one
// that has it and sees it dead. Throws Deadline, Io.
Descriptor take_over(const std::filesystem::path& folder, Deadline deadline);

// Where a coordinator with `listen` is reached, as soon as one has been there.
std::optional<std::string> store_address_of(const std::filesystem::path& folder);

// The process that holds it now.
std::optional<pid_t> coordinator_of(const std::filesystem::path& folder);

}  // namespace trireme::cluster::launch::job
