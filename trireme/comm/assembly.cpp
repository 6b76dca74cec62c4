#include "trireme/comm/assembly.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/cluster/membership/records.h"
#include "trireme/comm/engine.h"
#include "trireme/comm/hierarchy/wiring.h"
#include "trireme/comm/shm/backend.h"
#include "trireme/comm/spin.h"
#include "trireme/comm/tcp/assemble.h"
#include "trireme/net/address.h"

namespace trireme::comm {
namespace {

using cluster::membership::Epoch;
using cluster::membership::EpochMember;

constexpr Duration kLookPeriod = std::chrono::milliseconds(1);
constexpr Duration kEpochLookPeriod = std::chrono::milliseconds(100);
constexpr Duration kEpochLookMax = std::chrono::milliseconds(200);  // if the store is slow
constexpr Duration kDeathKnownMax = std::chrono::seconds(1);
constexpr auto kForgetMax = std::chrono::milliseconds(100);
constexpr std::uint64_t kEpochKey = std::uint64_t{0x65706f6368} << 24;

std::string arena_key(int worker) {
  return "arena/" + std::to_string(worker);
}

std::string mesh_prefix(std::uint64_t epoch) {
  return "mesh/" + std::to_string(epoch) + "/";
}

}  // namespace

Assembly::Assembly(const Options& options) : options_(options), engine_(make_engine(1, false)) {
  TRIREME_CHECK(!options_.is_spread || options_.credentials, "connections without a secret");
}

Assembly::~Assembly() = default;

// REQUIRES: numbers_ are those of the epoch. Engines may outlive the Assembly.
std::shared_ptr<Engine> Assembly::make_engine(int ranks_on_host, bool shares_fate) const {
  Engine::Options options{
      .spin = spin_for(ranks_on_host), .shares_fate = shares_fate, .liveness = options_.liveness};
  if (options_.on_late) {
    options.on_late = [on_late = options_.on_late, numbers = numbers_,
                       self = options_.worker](const Error& late) {
      std::optional<int> named = late.peer();
      if (named && !numbers.empty()) named = numbers[static_cast<std::size_t>(*named)];
      const std::optional<int> lost = on_late(named, late.message());
      if (!lost) return late;
      return Error(ErrorCode::PeerLost, late.message()).with_peer(*lost).with_rank(self);
    };
  }
  return std::make_shared<Engine>(std::move(options));
}

void Assembly::lose(int worker, const std::string& cause) {
  const Error error =
      Error(ErrorCode::PeerLost, "worker " + std::to_string(worker) + " is gone: " + cause)
          .with_peer(worker)
          .with_rank(options_.worker);
  std::shared_ptr<Engine> engine;
  int number = worker;
  {
    const std::lock_guard lock(mutex_);
    lost_.emplace(worker, error);
    engine = engine_;
    if (options_.is_spread) {
      const auto found = std::find(numbers_.begin(), numbers_.end(), worker);
      if (found == numbers_.end()) return;
      number = static_cast<int>(found - numbers_.begin());
    }
  }
  engine->lose(number, error);
}

void Assembly::throw_if_lost(const Epoch& epoch) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [worker, error] : lost_) {
    if (epoch.contains(worker)) throw error;
  }
}

// Another member may know of a death or a broken connection that this worker does not know of.
void Assembly::throw_if_over(const Epoch& epoch) {
  throw_if_lost(epoch);
  const TimePoint now = steady_clock().now();
  if (now - looked_ < kEpochLookPeriod) return;
  looked_ = now;
  bool is_over = false;
  try {
    const std::string next = cluster::membership::epoch_key(epoch.number() + 1);
    is_over = options_.store->get(next, Deadline::after(kEpochLookMax)).has_value();
  } catch (const Error&) {
    // If the store does not answer, it is not known whether the epoch is over.
  }
  if (!is_over) return;
  throw Error(ErrorCode::PeerLost, "the others have gone on from epoch " +
                                       std::to_string(epoch.number()) + " before all of it had met")
      .with_rank(options_.worker);
}

Group Assembly::group_of(const Epoch& epoch, const std::set<int>& having, Deadline deadline) {
  const std::optional<int> rank = epoch.rank_of(options_.worker);
  TRIREME_CHECK(rank, "worker ", options_.worker, " is not in epoch ", epoch.number());
  const int place = epoch.member(*rank).place;
  const cluster::Roster roster = epoch.roster();
  const std::vector<int>& beside = roster.ranks_beside(*rank);
  is_first_of_host_ = beside.front() == *rank;
  const std::shared_ptr<Arena> before = arena_;
  have_arena(epoch, having, deadline);
  const bool is_other = arena_ != before;
  if (options_.is_spread) {
    renew_engine(epoch, static_cast<int>(beside.size()));
  } else {
    if (before && is_other) replace_engine();
    engine_->set_spin(spin_for(epoch.size()));
  }
  if (is_other || options_.is_spread) {
    engine_->add_source(std::make_shared<shm::DoorbellSource>(arena_, place));
  }
  const Group::Options options{.epoch = epoch.number(),
                               .timeout = options_.operation_timeout,
                               .home = arena_,
                               .home_member = place};
  if (epoch.size() == 1) return Group::solo(arena_, place, options);
  auto backend = options_.is_spread ? spread_backend(epoch, roster, *rank, deadline)
                                    : shared_backend(epoch, *rank);
  Group group(std::move(backend), engine_, options);
  // Reports a worker that died before the group was registered with the engine.
  if (options_.is_spread) throw_if_lost(epoch);
  return group;
}

void Assembly::renew_engine(const Epoch& epoch, int ranks_on_host) {
  const std::lock_guard lock(mutex_);
  // A rank may wait for another one that has stopped because of the loss, so the loss must end all
  // groups (shares_fate).
  numbers_.clear();
  for (const EpochMember& entry : epoch.members()) numbers_.push_back(entry.worker);
  engine_ = make_engine(ranks_on_host, true);
}

// For an arena other than the previous one.
void Assembly::replace_engine() {
  const std::lock_guard lock(mutex_);
  engine_ = make_engine(1, false);
  for (const auto& [worker, error] : lost_) engine_->lose(worker, error);
}

std::shared_ptr<Backend> Assembly::shared_backend(const Epoch& epoch, int rank) {
  std::vector<shm::Lanes::Member> members;
  for (const EpochMember& entry : epoch.members()) members.push_back({entry.place, entry.worker});
  return std::make_shared<shm::SharedBackend>(arena_, members, rank, kEpochKey + 8 * epoch.number(),
                                              options_.faults, epoch.number());
}

std::shared_ptr<Backend> Assembly::spread_backend(const Epoch& epoch, const cluster::Roster& roster,
                                                  int rank, Deadline deadline) {
  hierarchy::Wiring wiring{.rank = rank,
                           .host_of = {},
                           .arena = arena_,
                           .places = {},
                           .messenger = nullptr,
                           .messages = {.name = "tcp", .faults = options_.faults},
                           .epoch = epoch.number()};
  for (const EpochMember& entry : epoch.members()) wiring.places.push_back(entry.place);
  for (int of = 0; of < epoch.size(); ++of) {
    wiring.host_of.push_back(roster.ranks_beside(of).front());
  }
  if (roster.hosts().size() > 1) {
    const auto mesh =
        tcp::assemble({.rank = rank,
                       .size = epoch.size(),
                       .host = options_.address.empty() ? net::host_address({}) : options_.address,
                       .checksums = options_.checksums,
                       .prefix = mesh_prefix(epoch.number()),
                       .epoch = epoch.number(),
                       .workers = numbers_,
                       .log = options_.log,
                       .check = [&] { throw_if_over(epoch); }},
                      *options_.store, options_.credentials, deadline);
    engine_->add_source(mesh);
    wiring.messenger = mesh;
  }
  return hierarchy::make_backend(wiring, kEpochKey + 8 * epoch.number());
}

void Assembly::forget(std::uint64_t epoch) noexcept {
  if (arena_) arena_->end_quarantine(epoch);
  if (!is_first_of_host_) return;
  if (arena_) arena_->forget(epoch);
  if (options_.is_spread) forget_meshes(epoch);
}

// Removes the addresses that ranks of earlier epochs published.
void Assembly::forget_meshes(std::uint64_t epoch) noexcept {
  const Deadline deadline = Deadline::after(kForgetMax);
  try {
    for (const cluster::StoreChange& key : options_.store->list("mesh/", deadline)) {
      const bool is_old = std::strtoull(key.key.c_str() + 5, nullptr, 10) < epoch;
      if (is_old) options_.store->erase(key.key, deadline);
    }
  } catch (const Error&) {
    // The next call removes them.
  }
}

// If no worker of a host is known to have its arena, the host uses that of its first worker: others
// may have an arena of an epoch that ended before all of its workers had connected.
void Assembly::have_arena(const Epoch& epoch, const std::set<int>& having, Deadline deadline) {
  const std::string& host = epoch.member(*epoch.rank_of(options_.worker)).about.host;
  std::vector<int> beside;  // workers on this host
  Offers offers;            // of those workers that have the arena
  for (const EpochMember& entry : epoch.members()) {
    if (options_.is_spread && entry.about.host != host) continue;
    beside.push_back(entry.worker);
    if (having.contains(entry.worker)) offers.emplace(entry.worker, arena_key(entry.worker));
  }
  if (arena_ && !offers.empty()) return;
  const int first = beside.front();
  const std::string firsts_key = arena_key(first) + "/" + std::to_string(epoch.number());
  if (!offers.empty()) {
    await_arena(epoch, offers, deadline);
  } else if (first != options_.worker) {
    await_arena(epoch, {{first, firsts_key}}, deadline);
  } else {
    if (!arena_) arena_ = Arena::create(options_.arena);
    say_arena(firsts_key, deadline);
  }
  say_arena(arena_key(options_.worker), deadline);
}

void Assembly::say_arena(const std::string& key, Deadline deadline) {
  ByteWriter out;
  arena_->proof().write(out);
  options_.store->set(key, out.bytes(), deadline, cluster::Lifetime::Session);
}

void Assembly::await_arena(const Epoch& epoch, const Offers& offers, Deadline deadline) {
  std::map<int, TimePoint> refused;
  while (true) {
    for (const auto& [worker, key] : offers) {
      if (open_from(worker, key, refused, deadline)) return;
    }
    throw_if_over(epoch);
    if (deadline.is_past()) {
      throw Error(ErrorCode::Deadline, "nobody gave worker " + std::to_string(options_.worker) +
                                           " the memory that the others share")
          .with_rank(options_.worker);
    }
    std::this_thread::sleep_for(kLookPeriod);
  }
}

// If a worker's arena cannot be opened, that worker has usually just died, and this worker will be
// notified shortly. Until then the other offers are tried.
bool Assembly::open_from(int worker, const std::string& key, std::map<int, TimePoint>& refused,
                         Deadline deadline) {
  const std::optional<Bytes> said = options_.store->get(key, deadline);
  if (!said) return false;
  ByteReader in(*said);
  const MemoryFile::Proof proof = MemoryFile::Proof::read(in);
  if (arena_ && arena_->proof().nonce == proof.nonce) return true;
  if (auto arena = Arena::open(proof)) {
    arena_ = std::move(arena);
    return true;
  }
  const TimePoint now = steady_clock().now();
  const TimePoint since = refused.emplace(worker, now).first->second;
  const std::lock_guard lock(mutex_);
  if (lost_.contains(worker) || now - since < kDeathKnownMax) return false;
  throw Error(ErrorCode::Unsupported,
              "worker " + std::to_string(options_.worker) + " shares no memory with worker " +
                  std::to_string(worker) + "; set elastic.spread=true for jobs on several hosts")
      .with_rank(options_.worker);
}

}  // namespace trireme::comm
