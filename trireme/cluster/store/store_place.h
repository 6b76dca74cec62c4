// StorePlace is where the ranks of a job find their store, and which rank serves it.
//
// TRIREME_STORE sets it: tcp://host:port, unix:/path or etcd://host:port. Without it,
// the location follows from what the launcher told every rank:
//   torchrun  tcp at MASTER_ADDR, MASTER_PORT + 1 (torchrun itself holds MASTER_PORT)
//   mpirun    on one host a unix socket named after the job; across hosts TRIREME_STORE is required
//   srun      on one host the same; across hosts tcp at the first node, port from the job id
// TRIREME_STORE_RANK sets which rank serves: by default 0 under torchrun, mpirun and srun, and no
// rank under trireme run, where the launcher serves.
//
// Loopback: a job on one host listens on loopback or a unix socket only.
// Errors:   InvalidInput, with the variable to set.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trireme/cluster/store/etcd/place.h"
#include "trireme/cluster/variables.h"
#include "trireme/net/address.h"

namespace trireme::cluster {

enum class Launcher { None, Trireme, Torchrun, Mpirun, Srun };

std::string_view name_of(Launcher launcher) noexcept;

struct StorePlace {
  enum class Kind { InProcess, Server, Etcd };

  Kind kind = Kind::InProcess;
  net::Address connect{};          // Server
  net::Address listen{};           // Server, on the rank that serves
  std::optional<int> served_by{};  // nullopt: no rank serves it
  etcd::EtcdPlace etcd{};          // Etcd
  // The serving rank creates the secret, in a file beside its socket that only this user can read.
  bool makes_secret = false;
};

struct StoreQuestion {
  Launcher launcher = Launcher::None;
  int size = 1;
  bool is_one_host = true;
  std::string job{};
};

StorePlace find_store(const StoreQuestion& question, const Variables& variables);

}  // namespace trireme::cluster
