#include "trireme/comm/connect.h"

#include <array>
#include <mutex>
#include <optional>
#include <utility>

#include "trireme/cluster/rank_names.h"
#include "trireme/comm/arena.h"
#include "trireme/comm/engine.h"
#include "trireme/comm/hierarchy/wiring.h"
#include "trireme/comm/mpi/messenger.h"
#include "trireme/comm/shm/backend.h"
#include "trireme/comm/spin.h"
#include "trireme/comm/tcp/assemble.h"
#include "trireme/net/address.h"

namespace trireme::comm {
namespace {

constexpr std::array<std::string_view, 4> kTransportNames{"auto", "shm", "tcp", "mpi"};
constexpr std::uint64_t kRootKey = 0x726f6f74u << 8;

// The ranks that share memory with this one, and the memory.
struct Sharing {
  std::shared_ptr<Arena> arena;
  std::vector<int> ranks;  // ascending; only this rank if no memory is shared
};

// Ranks that died or left since this rank began to connect. A rank that left may have connected and
// finished its work; its messages arrive soon, so a departure counts only after a grace period.
class Absences {
 public:
  void add_death(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!death_) death_ = error;
  }
  void add_departure(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (departure_) return;
    departure_ = error;
    counts_from_ = Deadline::after(kDepartureGrace);
  }
  void check() const {
    const std::lock_guard lock(mutex_);
    if (death_) throw *death_;
    if (departure_ && counts_from_.is_past()) throw *departure_;
  }
  // Waits until the store has a value for the key and returns it.
  Bytes wait_for(cluster::Store& store, const std::string& key, Deadline deadline) const {
    for (;;) {
      check();
      try {
        return store.wait(key, min(deadline, Deadline::after(kLook)));
      } catch (const Error& error) {
        if (error.code() != ErrorCode::Deadline || deadline.is_past()) throw;
      }
    }
  }

 private:
  static constexpr Duration kDepartureGrace = std::chrono::seconds(1);
  static constexpr Duration kLook = std::chrono::milliseconds(50);

  mutable std::mutex mutex_;
  std::optional<Error> death_, departure_;
  Deadline counts_from_ = Deadline::never();
};

// From now on the engine, and this rank while it connects, are notified of each death and departure
// of another rank.
void watch_others(cluster::World& world, const std::shared_ptr<Engine>& engine,
                  const std::shared_ptr<Absences>& absences) {
  const auto error_of = [rank = world.rank()](int whom, const std::string& what) {
    return Error(ErrorCode::PeerLost, "rank " + std::to_string(whom) + what)
        .with_peer(whom)
        .with_rank(rank);
  };
  world.on_death([engine = std::weak_ptr<Engine>(engine), absences, error_of](const auto& death) {
    const Error error = error_of(death.rank, " is gone: " + death.cause);
    absences->add_death(error);
    if (const auto living = engine.lock()) living->lose(death.rank, error);
  });
  world.on_leave([engine = std::weak_ptr<Engine>(engine), absences, error_of](int whom) {
    absences->add_departure(error_of(whom, " left while others connected"));
    if (const auto living = engine.lock()) living->depart(whom);
  });
}

// The first rank of a host creates the arena; the others open it and report whether they succeeded.
// It is used only if all succeeded, so that every rank of the host makes the same decision.
Sharing share_memory(cluster::World& world, const std::string& prefix, const Absences& absences,
                     const Log& log, Deadline deadline) {
  const std::vector<int>& beside = world.roster().ranks_beside(world.rank());
  Sharing alone{nullptr, {world.rank()}};
  if (beside.size() == 1) return alone;
  cluster::Store& store = world.store();
  const std::string proof_key = prefix + "arena/" + std::to_string(beside.front());
  Sharing sharing{nullptr, beside};
  if (world.rank() == beside.front()) {
    sharing.arena = Arena::create({.members = static_cast<int>(beside.size())});
    ByteWriter out;
    sharing.arena->proof().write(out);
    store.set(proof_key, out.bytes(), deadline);
  } else {
    const Bytes proof = absences.wait_for(store, proof_key, deadline);
    ByteReader in(proof);
    sharing.arena = Arena::open(MemoryFile::Proof::read(in));
  }
  const auto verdict_key = [&](int rank) { return prefix + "shares/" + std::to_string(rank); };
  store.set(verdict_key(world.rank()), bytes_of(sharing.arena ? "yes" : "no"), deadline);
  std::vector<int> apart;
  for (int rank : beside) {
    if (text_of(absences.wait_for(store, verdict_key(rank), deadline)) != "yes") {
      apart.push_back(rank);
    }
  }
  if (apart.empty()) return sharing;
  log.warn("ranks that say they are on one host share no memory; they use TCP, which is slower",
           {{"rank", world.rank()},
            {"could_not_open_it", cluster::name_ranks(apart)},
            {"host", world.roster().member(world.rank()).host_name}});
  return alone;
}

// For every rank of the job, the first rank among those that it shares memory with.
std::vector<int> agree_on_hosts(cluster::World& world, const Sharing& sharing,
                                const std::string& prefix, const Absences& absences,
                                Deadline deadline) {
  std::vector<int> host_of(static_cast<std::size_t>(world.size()));
  const auto key = [&](int rank) { return prefix + "host/" + std::to_string(rank); };
  world.store().set(key(world.rank()), bytes_of(std::to_string(sharing.ranks.front())), deadline);
  for (int rank = 0; rank < world.size(); ++rank) {
    const Bytes host = absences.wait_for(world.store(), key(rank), deadline);
    host_of[static_cast<std::size_t>(rank)] = std::stoi(std::string(text_of(host)));
  }
  return host_of;
}

std::string listening_host(const cluster::World& world, const std::string& interface) {
  const bool is_one_host = world.roster().hosts().size() == 1 && interface.empty();
  if (is_one_host) return "127.0.0.1";
  // The launcher knows the address by which the hosts reach each other.
  if (interface.empty() && !world.address().empty()) return world.address();
  return net::host_address(interface);
}

std::vector<int> all_ranks(int size) {
  std::vector<int> ranks(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) ranks[static_cast<std::size_t>(rank)] = rank;
  return ranks;
}

// Connects the ranks of a world: shared memory inside each host, and a messenger across hosts.
class Connecting {
 public:
  Connecting(cluster::World& world, const ConnectOptions& options)
      : world_(world),
        options_(options),
        // Each call uses its own keys: all ranks call connect() the same number of times, in the
        // same order.
        number_(static_cast<std::uint64_t>(world.next_number("connect"))),
        prefix_("comm/" + std::to_string(epoch()) + "/" + std::to_string(number_) + "/") {
    watch_others(world, engine_, absences_);
  }

  Group group() {
    if (options_.transport == Transport::Mpi) {
      connect_over_mpi();
    } else {
      connect_over_memory_and_tcp();
    }
    std::vector<int> places(host_of_.size(), -1);
    for (std::size_t i = 0; i < sharing_.ranks.size(); ++i) {
      places[static_cast<std::size_t>(sharing_.ranks[i])] = static_cast<int>(i);
    }
    if (sharing_.arena) {
      engine_->add_source(std::make_shared<shm::DoorbellSource>(
          sharing_.arena, places[static_cast<std::size_t>(world_.rank())]));
    }
    auto backend = hierarchy::make_backend({.rank = world_.rank(),
                                            .host_of = host_of_,
                                            .arena = sharing_.arena,
                                            .places = places,
                                            .messenger = messenger_,
                                            .messages = {.name = messenger_name_,
                                                         .algorithm = options_.algorithm,
                                                         .faults = options_.faults}},
                                           kRootKey + 2 * epoch() + 2);
    return Group(std::move(backend), engine_,
                 {.epoch = epoch(), .timeout = options_.operation_timeout});
  }

 private:
  std::uint64_t epoch() const { return world_.roster().epoch(); }

  void connect_over_mpi() {
    const auto mpi = mpi::make_messenger();
    engine_->add_source(mpi.source);
    messenger_ = mpi.messenger;
    messenger_name_ = "mpi";
    host_of_ = all_ranks(world_.size());
    if (messenger_->rank() == world_.rank() && mpi.size == world_.size()) return;
    throw Error(ErrorCode::InvalidInput,
                "this is rank " + std::to_string(world_.rank()) + " of " +
                    std::to_string(world_.size()) + " in the job, but " +
                    std::to_string(messenger_->rank()) + " of " + std::to_string(mpi.size) +
                    " in MPI; is a launcher's environment left over from outside mpirun?")
        .with_rank(world_.rank());
  }

  void connect_over_memory_and_tcp() {
    if (options_.transport != Transport::Tcp) {
      check_host_sizes(world_.roster());
      sharing_ = share_memory(world_, prefix_, *absences_, options_.log, deadline_);
    }
    host_of_ = agree_on_hosts(world_, sharing_, prefix_, *absences_, deadline_);
    if (static_cast<int>(sharing_.ranks.size()) == world_.size()) return;
    if (options_.transport == Transport::Shm) {
      throw Error(ErrorCode::Unsupported,
                  "not all ranks share memory, and the options allow nothing else; use "
                  "Transport::Auto")
          .with_rank(world_.rank())
          .with_operation("connect");
    }
    messenger_ = connect_over_tcp();
  }

  std::shared_ptr<Messenger> connect_over_tcp() {
    if (!world_.credentials()) {
      throw Error(ErrorCode::InvalidInput,
                  "ranks that share no memory connect over TCP, and that needs the job's secret: "
                  "set TRIREME_SECRET_FILE to a file that only you can read (umask 077; openssl "
                  "rand -hex 32 > secret) on every rank");
    }
    auto mesh = tcp::assemble({.rank = world_.rank(),
                               .size = world_.size(),
                               .host = listening_host(world_, options_.interface),
                               .streams = options_.streams,
                               .checksums = options_.checksums || world_.wants_checksums(),
                               .prefix = prefix_ + "tcp/",
                               .epoch = epoch(),
                               .mesh = number_,
                               .log = options_.log,
                               .check = [&] { absences_->check(); }},
                              world_.store(), world_.credentials(), deadline_);
    engine_->add_source(mesh);
    return mesh;
  }

  cluster::World& world_;
  const ConnectOptions& options_;
  const Deadline deadline_ = Deadline::after(options_.timeout);
  const std::uint64_t number_;
  const std::string prefix_;
  const std::shared_ptr<Engine> engine_ =
      std::make_shared<Engine>(Engine::Options{.spin = spin_for(world_.local_size())});
  const std::shared_ptr<Absences> absences_ = std::make_shared<Absences>();
  Sharing sharing_{nullptr, {world_.rank()}};
  std::vector<int> host_of_;  // by rank: the first rank among those that it shares memory with
  std::shared_ptr<Messenger> messenger_;
  std::string_view messenger_name_ = "tcp";
};

}  // namespace

std::string_view name_of(Transport transport) noexcept {
  return kTransportNames[static_cast<std::size_t>(transport)];
}

Transport transport_named(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < kTransportNames.size(); ++i) {
    if (kTransportNames[i] == name) return static_cast<Transport>(i);
    known += (i == 0 ? "" : ", ") + std::string(kTransportNames[i]);
  }
  throw Error(ErrorCode::InvalidInput,
              "no transport is called '" + std::string(name) + "'; there are " + known);
}

void check_host_sizes(const cluster::Roster& roster) {
  for (const std::vector<int>& ranks : roster.hosts()) {
    if (ranks.size() <= static_cast<std::size_t>(Arena::kMembersMax)) continue;
    throw Error(ErrorCode::Unsupported,
                std::to_string(ranks.size()) + " ranks are on host " +
                    roster.member(ranks.front()).host_name + ", and at most " +
                    std::to_string(Arena::kMembersMax) +
                    " of one host can share memory: start fewer there, or ask for Transport::Tcp");
  }
}

Group connect(cluster::World& world, const ConnectOptions& options) {
  if (world.size() == 1) return Group::solo();
  return Connecting(world, options).group();
}

}  // namespace trireme::comm
