#include "trireme/comm/shm/backend.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>

#include "trireme/comm/shm/board.h"

namespace trireme::comm::shm {
namespace {

std::vector<int> job_ranks_of(const std::vector<Lanes::Member>& members) {
  std::vector<int> ranks;
  for (const Lanes::Member& member : members) ranks.push_back(member.job_rank);
  return ranks;
}

}  // namespace

void DoorbellSource::prepare_sleep() {
  seen_ = bell_.rings.load(std::memory_order_seq_cst);
  bell_.is_asleep.store(1, std::memory_order_seq_cst);
}

void DoorbellSource::sleep(Duration longest) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  const timespec timeout{static_cast<time_t>(seconds.count()),
                         static_cast<long>((longest - seconds).count())};
  ::syscall(SYS_futex, &bell_.rings, FUTEX_WAIT, seen_, &timeout, nullptr, 0);
}
void DoorbellSource::wake() noexcept {
  bell_.rings.fetch_add(1, std::memory_order_seq_cst);
  ::syscall(SYS_futex, &bell_.rings, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

SharedBackend::SharedBackend(std::shared_ptr<Arena> arena, std::vector<Lanes::Member> members,
                             int me, std::uint64_t key, Faults* faults, std::uint64_t epoch)
    : Backend(job_ranks_of(members), me, arena, members[static_cast<std::size_t>(me)].arena_member),
      lanes_(std::move(arena), std::move(members), me, key,
             Deadline::after(std::chrono::seconds(30)), epoch),
      mailbox_(lanes_),
      key_(key),
      faults_(faults) {}

BackendCapabilities SharedBackend::capabilities() const noexcept {
  return {.name = "shm",
          .aborts = true,
          .names_mismatch = true,
          .names_the_dead = true,
          .ordered_sums = true,
          .rounds_once = true,
          .shares_memory = true};
}

void SharedBackend::pass(FaultPoint point) const {
  reach(faults_, point, job_rank());
}

Task SharedBackend::run(const Operation& op) {
  if (op.request.kind == OpKind::Send) return mailbox_.send(op);
  if (op.request.kind == OpKind::Receive) return mailbox_.receive(op);
  expect(op.sequence);
  return collective(op);
}

Error SharedBackend::stalled(const Operation& op, Duration waited) const {
  const bool is_pairwise = op.request.kind == OpKind::Send || op.request.kind == OpKind::Receive;
  const int me = job_rank();
  const std::string who = is_pairwise ? "rank " + std::to_string(lanes_.job_rank(op.peer)) +
                                            " did not answer with tag " + std::to_string(op.tag) +
                                            "; rank " + std::to_string(me)
                                      : describe_missing(lanes_, op);
  char time[32];
  std::snprintf(time, sizeof(time), "%.1f s", std::chrono::duration<double>(waited).count());
  const Error late =
      Error(ErrorCode::Deadline, who + " waited " + time).with_rank(me).with_operation(op.name());
  const std::optional<int> missing =
      is_pairwise ? lanes_.job_rank(op.peer) : first_absent(lanes_, op);
  return missing ? late.with_peer(*missing) : late;
}

// Also reports the departure of a member that an operation here waits for. Operations that the
// member finished before it left can be finished without it.
std::optional<Error> SharedBackend::failure() const {
  if (auto announced = lanes_.failure()) return announced;
  for (int m = 0; m < size(); ++m) {
    if (m == rank() || !lanes_.has_left(m)) continue;
    const auto is_awaited = [&](std::uint64_t sequence) {
      return !lanes_.has_finished(m, sequence);
    };
    if (std::any_of(unfinished_.begin(), unfinished_.end(), is_awaited)) {
      return lanes_.departure_of(m);
    }
  }
  return std::nullopt;
}

std::shared_ptr<Backend> SharedBackend::subgroup(std::span<const int> ranks, std::uint64_t key) {
  std::vector<Lanes::Member> members;
  int me = -1;
  for (int rank : ranks) {
    if (rank == me_) me = static_cast<int>(members.size());
    members.push_back(lanes_.members()[static_cast<std::size_t>(rank)]);
  }
  if (me < 0) return nullptr;
  return std::make_shared<SharedBackend>(arena(), std::move(members), me, key, faults_,
                                         lanes_.epoch());
}

}  // namespace trireme::comm::shm
