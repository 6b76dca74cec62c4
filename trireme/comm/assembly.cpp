#include "trireme/comm/assembly.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/comm/engine.h"
#include "trireme/comm/shm/backend.h"
#include "trireme/comm/spin.h"

namespace trireme::comm {
namespace {

using cluster::membership::Epoch;
using cluster::membership::Seat;

constexpr Duration kLookPeriod = std::chrono::milliseconds(1);
constexpr std::uint64_t kForgottenMax = 64;
constexpr std::uint64_t kEpochKey = std::uint64_t{0x65706f6368} << 24;

std::string arena_key(int worker) {
  return "arena/" + std::to_string(worker);
}

}  // namespace

Assembly::Assembly(const Options& options)
    : options_(options), engine_(std::make_shared<Engine>(Engine::Options{.spin = spin_for(1)})) {}

Assembly::~Assembly() = default;

void Assembly::lose(int worker, const std::string& cause) {
  const Error error =
      Error(ErrorCode::PeerLost, "worker " + std::to_string(worker) + " is gone: " + cause)
          .with_peer(worker)
          .with_rank(options_.worker);
  {
    const std::lock_guard lock(mutex_);
    lost_.emplace(worker, error);
  }
  engine_->lose(worker, error);
}

void Assembly::throw_if_lost(const Epoch& epoch) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [worker, error] : lost_) {
    if (epoch.contains(worker)) throw error;
  }
}

Group Assembly::group_of(const Epoch& epoch, const std::set<int>& having, Deadline deadline) {
  const std::optional<int> rank = epoch.rank_of(options_.worker);
  TRIREME_CHECK(rank, "worker ", options_.worker, " is not in epoch ", epoch.number());
  const int place = epoch.seat(*rank).place;
  const bool is_first = arena_ == nullptr;
  if (is_first) {
    have_arena(epoch, having, deadline);
    engine_->add_source(std::make_shared<shm::DoorbellSource>(arena_, place));
  }
  engine_->set_spin(spin_for(epoch.size()));
  const Group::Options options{.epoch = epoch.number(), .timeout = options_.operation_timeout};
  if (epoch.size() == 1) return Group::solo(arena_, place, options);
  std::vector<shm::Lanes::Member> members;
  for (const Seat& seat : epoch.seats()) members.push_back({seat.place, seat.worker});
  auto backend = std::make_shared<shm::SharedBackend>(
      arena_, members, *rank, kEpochKey + 8 * epoch.number(), options_.faults);
  return Group(std::move(backend), engine_, options);
}

void Assembly::forget(std::uint64_t epoch) noexcept {
  // One that has come to lead does not know how far the last one came.
  const std::uint64_t before = epoch > kForgottenMax ? epoch - kForgottenMax : 1;
  for (std::uint64_t old = std::max(forgotten_, before); arena_ && old < epoch; ++old) {
    shm::Lanes::forget(*arena_, kEpochKey + 8 * old);
  }
  forgotten_ = std::max(forgotten_, epoch);
}

void Assembly::have_arena(const Epoch& epoch, const std::set<int>& having, Deadline deadline) {
  const bool is_maker = having.empty() && epoch.seat(0).worker == options_.worker;
  if (is_maker) arena_ = Arena::create(options_.arena);
  while (!arena_) {
    for (const Seat& seat : epoch.seats()) {
      const bool is_asked = having.empty() || having.contains(seat.worker);
      if (is_asked && seat.worker != options_.worker && open_from(seat.worker, deadline)) break;
    }
    if (arena_) break;
    throw_if_lost(epoch);
    if (deadline.is_past()) {
      throw Error(ErrorCode::Deadline, "nobody gave worker " + std::to_string(options_.worker) +
                                           " the memory that the others share")
          .with_rank(options_.worker);
    }
    std::this_thread::sleep_for(kLookPeriod);
  }
  ByteWriter out;
  arena_->proof().write(out);
  options_.store->set(arena_key(options_.worker), out.bytes(), deadline,
                      cluster::Lifetime::Session);
}

bool Assembly::open_from(int worker, Deadline deadline) {
  const std::optional<Bytes> proof = options_.store->get(arena_key(worker), deadline);
  if (!proof) return false;
  ByteReader in(*proof);
  arena_ = Arena::open(MemoryFile::Proof::read(in));
  if (arena_) return true;
  const std::lock_guard lock(mutex_);
  if (lost_.contains(worker)) return false;
  throw Error(ErrorCode::Unsupported,
              "worker " + std::to_string(options_.worker) + " shares no memory with worker " +
                  std::to_string(worker) + ": an elastic job runs on one host")
      .with_rank(options_.worker);
}

}  // namespace trireme::comm
