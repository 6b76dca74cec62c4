#include "trireme/cluster/launch/local_host.h"

#include <unistd.h>

#include "trireme/cluster/launch/host/cgroup.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/host/processors.h"

namespace trireme::cluster::launch {
namespace {

Ranks::Options with_cores(Ranks::Options options) {
  options.cores = host::plan_cores({.processors = host::allowed_processors(),
                                    .quota = host::Cgroup().processor_quota().value_or(0),
                                    .ranks = options.spec->ranks,
                                    .bind = options.spec->bind,
                                    .threads = threads_wanted(own_environment())});
  return options;
}

}  // namespace

LocalHost::LocalHost(const Options& options)
    : front_(options.front),
      is_elastic_(options.ranks.orphan_timeout.has_value()),
      reaped_(options.reaped),
      ranks_(with_cores(options.ranks)) {}

void LocalHost::begin(RankListener& listener, const std::string& store, const std::string& feed) {
  listener_ = &listener;
  ranks_.begin(listener, store, feed);
}

Deadline LocalHost::add_waits(std::vector<pollfd>& waits, bool has_room) const {
  if (has_room) ranks_.records().add_waits(waits);
  return dead_by_.is_past() ? Deadline::never() : dead_by_;
}

void LocalHost::pump(std::span<const pollfd> waits) {
  ranks_.records().pump(waits);
  ranks_.release_forgotten();
}

bool LocalHost::has_front() const {
  return front_ != 0 && getppid() == front_;
}

void LocalHost::on_reaped(pid_t pid, int status) {
  const auto exit = ranks_.on_reaped(pid, status, oom_watch_);
  if (!exit) return;
  if (is_elastic_) {
    host::kill_group(has_front() ? front_ : getpid(), pid);
    ranks_.records().read_rest(exit->rank);
  }
  listener_->on_ended(*exit, ranks_.records().tail(exit->rank).failure());
}

void LocalHost::look_for_ends() {
  for (const job::WorkerEntry& member : ranks_.worker_list().members) {
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
  host::kill_descendants(dead_by_, reaped_);
}

}  // namespace trireme::cluster::launch
