#include "trireme/cluster/launch/local_host.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "trireme/base/clock.h"
#include "trireme/cluster/launch/ending.h"
#include "trireme/cluster/launch/host/cgroup.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/host/processors.h"
#include "trireme/cluster/launch/rank/report.h"

namespace trireme::cluster::launch {
namespace {

host::CorePlan distribute_cores(const JobSpec& spec) {
  return host::plan_cores({.processors = host::allowed_processors(),
                           .quota = host::Cgroup().processor_quota().value_or(0),
                           .ranks = spec.ranks,
                           .bind = spec.bind,
                           .threads = threads_wanted(own_environment())});
}

}  // namespace

LocalHost::LocalHost(Options options)
    : options_(std::move(options)),
      cores_(distribute_cores(*options_.spec)),
      ranks_({.spec = options_.spec,
              .job = options_.job,
              .folder = options_.folder,
              .cores = cores_,
              .mask = options_.mask,
              .orphan_timeout = options_.orphan_timeout,
              .part = options_.part}) {}

void LocalHost::begin(RankListener& listener, const std::string& store, const std::string& feed) {
  listener_ = &listener;
  ranks_.set_store(store);
  ranks_.set_feed(feed);
  ranks_.prepare();
}

void LocalHost::take_over(const job::WorkerList& worker_list) {
  next_ = worker_list.next;
  ranks_.adopt(worker_list.members);
  for (const job::WorkerEntry& member : worker_list.members) listener_->on_found(member.worker);
}

job::WorkerList LocalHost::worker_list() const {
  return {.next = next_, .members = ranks_.worker_list()};
}

int LocalHost::start_rank(int size, const std::vector<std::string>& arguments) {
  if (next_ == 0) warn_of_oversubscription();
  const int rank = next_++;
  start({.rank = rank, .size = size, .arguments = arguments});
  return rank;
}

void LocalHost::start(const RankOrder& order) {
  ranks_.start(order);
  const auto share = static_cast<std::size_t>(ranks_.share(order.rank));
  const host::CoreShare& cores = cores_.shares[share];
  listener_->on_started(order.rank, {{"pid", ranks_.pid(order.rank)},
                                     {"processors", host::to_text(cores.processors)},
                                     {"bound", cores_.is_bound},
                                     {"threads", cores.threads}});
}

void LocalHost::warn_of_oversubscription() const {
  if (!cores_.is_oversubscribed()) return;
  const int threads = cores_.shares.front().threads;
  options_.warn("warning: " + std::to_string(options_.spec->ranks) + " ranks with " +
                std::to_string(threads) + (threads == 1 ? " thread" : " threads") + " each share " +
                plain_number(cores_.available) + (cores_.available == 1 ? " core" : " cores") +
                "; they will wait for each other");
}

void LocalHost::forget_exits() {
  std::vector<int> gone;
  for (const RankExit& exit : ranks_.exits()) gone.push_back(exit.rank);
  for (const int rank : gone) ranks_.forget(rank);
}

void LocalHost::add_waits(std::vector<pollfd>& waits, bool has_room) const {
  for (const output::RankStream& stream : ranks_.streams()) {
    if (!has_room || !stream.is_open()) continue;
    waits.push_back({.fd = stream.descriptor(), .events = POLLIN, .revents = 0});
  }
}

void LocalHost::pump(std::span<const pollfd> waits) {
  std::vector<int> readable;
  for (const pollfd& wait : waits) {
    if (wait.revents != 0) readable.push_back(wait.fd);
  }
  std::ranges::sort(readable);
  for (output::RankStream& stream : ranks_.streams()) {
    if (!has_room()) break;
    if (!stream.is_open() || !std::ranges::binary_search(readable, stream.descriptor())) continue;
    has_output_ |= stream.pump(steady_clock().now(), *options_.writer);
  }
  ranks_.release_forgotten();
}

bool LocalHost::has_front() const {
  return options_.front != 0 && getppid() == options_.front;
}

void LocalHost::on_reaped(pid_t pid, int status) {
  const RankExit* exit = ranks_.on_reaped(pid, status, oom_watch_);
  if (exit == nullptr) return;
  const RankExit seen = *exit;
  if (options_.orphan_timeout) {
    host::kill_group(has_front() ? options_.front : getpid(), pid);
    if (options_.writer != nullptr) ranks_.read_rest(seen.rank, *options_.writer);
  }
  listener_->on_ended(seen, ranks_.tail(seen.rank).failure());
}

void LocalHost::look_for_ends() {
  for (const job::WorkerEntry& member : ranks_.worker_list()) {
    const auto process = host::find_process(member.pid);
    const bool is_there = process && process->start == member.start;
    const bool is_strange_zombie = is_there && process->is_zombie && process->parent != getpid();
    if (is_there && !(is_strange_zombie && !has_front())) continue;
    on_reaped(member.pid, SIGKILL);
  }
}

void LocalHost::end() {
  dead_by_ = Deadline::after(host::kKillTime);
  ranks_.signal(SIGKILL);
  host::kill_descendants(dead_by_, options_.reaped);
}

void LocalHost::drain(const Turn& turn, const std::function<bool()>& is_enough) {
  const auto is_open = [](const output::RankStream& stream) { return stream.is_open(); };
  Deadline quiet = Deadline::after(Ending::kQuietTime);
  while (std::ranges::any_of(ranks_.streams(), is_open)) {
    has_output_ = false;
    turn(quiet);
    if (has_output_ || !has_room()) quiet = Deadline::after(Ending::kQuietTime);
    if (quiet.is_past() || is_enough()) break;
  }
}

int LocalHost::finish(const Turn& turn, const std::function<bool()>& is_enough) {
  drain(turn, is_enough);
  int error = 0;
  for (output::RankStream& stream : ranks_.streams()) {
    stream.finish(*options_.writer);
    if (error == 0) error = stream.log_error();
  }
  return error;
}

}  // namespace trireme::cluster::launch
