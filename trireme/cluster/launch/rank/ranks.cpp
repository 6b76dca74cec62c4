#include "trireme/cluster/launch/rank/ranks.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/rank/report.h"

namespace trireme::cluster::launch {
namespace {

// The launcher needs two pipes per rank; the ranks themselves get the limit that the launcher had.
rlimit raise_files_max() {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit raised{.rlim_cur = before.rlim_max, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &raised);
  return before;
}

// A terminal stops a background process that reads from it, and the ranks have their own process
// groups.
int input_of(int rank) {
  return rank == 0 && isatty(STDIN_FILENO) == 0 ? STDIN_FILENO : -1;
}

bool is_for_group(int signal) {
  return signal != SIGUSR1 && signal != SIGUSR2;
}

bool is_ending(int signal) {
  return is_for_group(signal) && signal != SIGSTOP && signal != SIGCONT;
}

}  // namespace

Ranks::Ranks(Options options)
    : options_(std::move(options)),
      records_({.folder = options_.spec->output,
                .writer = options_.writer,
                .envelope = options_.part ? options_.part->envelope : nullptr}),
      pipes_(options_.folder, options_.spec->elastic.has_value()) {}

void Ranks::begin(RankListener& listener, std::string store, std::string feed) {
  listener_ = &listener;
  store_ = std::move(store);
  feed_ = std::move(feed);
  files_max_ = raise_files_max();
  trouble_pipe_ = output::make_pipe(O_NONBLOCK);
  inherited_ = own_environment();
}

int Ranks::start_rank(int size, const std::vector<std::string>& arguments) {
  if (next_ == 0) warn_of_oversubscription();
  const int rank = next_++;
  start({.rank = rank, .size = size, .arguments = arguments});
  return rank;
}

void Ranks::warn_of_oversubscription() const {
  const host::CorePlan& plan = options_.cores;
  if (!plan.is_oversubscribed()) return;
  const int threads = plan.shares.front().threads;
  options_.warn("warning: " + std::to_string(options_.spec->ranks) + " ranks with " +
                std::to_string(threads) + (threads == 1 ? " thread" : " threads") + " each share " +
                plain_number(plan.available) + (plan.available == 1 ? " core" : " cores") +
                "; they will wait for each other");
}

void Ranks::start(const RankOrder& order) {
  try {
    start_process(order);
  } catch (const Error&) {
    // Nothing of this rank runs, and it will not be asked for again.
    records_.release(order.rank);
    members_.erase(order.rank);
    throw;
  }
  const Member& member = members_.at(order.rank);
  const host::CoreShare& cores = options_.cores.shares[static_cast<std::size_t>(member.share)];
  listener_->on_started(order.rank, {{"pid", member.pid},
                                     {"processors", host::to_text(cores.processors)},
                                     {"bound", options_.cores.is_bound},
                                     {"threads", cores.threads}});
}

// The share that the fewest live ranks use; the first one of those.
int Ranks::free_share() const {
  std::vector<int> users(options_.cores.shares.size(), 0);
  for (const auto& [rank, member] : members_) {
    if (member.is_alive) ++users[static_cast<std::size_t>(member.share)];
  }
  return static_cast<int>(std::min_element(users.begin(), users.end()) - users.begin());
}

void Ranks::start_process(const RankOrder& order) {
  const int rank = order.rank;
  const int share_index = free_share();
  const host::CoreShare& share = options_.cores.shares.at(static_cast<std::size_t>(share_index));
  Member& member = members_[rank];
  member.share = share_index;
  records_.open(rank, false);
  output::PipeEnds out = pipes_.make(rank, STDOUT_FILENO);
  output::PipeEnds error = pipes_.make(rank, STDERR_FILENO);
  std::vector<std::string> arguments = options_.spec->command;
  arguments.insert(arguments.end(), order.arguments.begin(), order.arguments.end());
  member.pid = spawn({.rank = rank,
                      .program = options_.spec->program,
                      .arguments = std::move(arguments),
                      .environment = environment_for(order, share_index),
                      .processors = options_.cores.is_bound ? share.processors : std::vector<int>(),
                      .input = options_.part ? -1 : input_of(rank),
                      .output = out.in.get(),
                      .error = error.in.get(),
                      .trouble = trouble_pipe_.in.get(),
                      .mask = options_.mask,
                      .files_max = files_max_,
                      .dies_with_us = !options_.spec->elastic});
  if (const auto started = host::find_process(member.pid)) member.start = started->start;
  member.is_alive = true;
  ++living_;
  records_.add_stream(rank, STDOUT_FILENO, std::move(out.out));
  records_.add_stream(rank, STDERR_FILENO, std::move(error.out));
}

EnvironmentVariables Ranks::environment_for(const RankOrder& order, int share) const {
  RankPlace place{.rank = order.rank,
                  .size = order.size,
                  .threads = options_.cores.shares.at(static_cast<std::size_t>(share)).threads,
                  .job = options_.job,
                  .folder = options_.folder,
                  .store = store_,
                  .feed = feed_};
  if (const auto& part = options_.part) {
    place.first = part->first;
    place.local_size = options_.spec->ranks;
    place.address = part->address;
  }
  if (options_.orphan_timeout) {
    place.share = share;
    place.orphan_timeout = *options_.orphan_timeout;
  }
  return environment_of(place, inherited_);
}

void Ranks::take_over(const job::WorkerList& worker_list) {
  next_ = worker_list.next;
  for (const job::WorkerEntry& who : worker_list.members) {
    Member& member = members_[who.worker];
    member.pid = who.pid;
    member.start = who.start;
    member.share = std::min(who.share, static_cast<int>(options_.cores.shares.size()) - 1);
    records_.open(who.worker, true);
    member.is_alive = true;
    ++living_;
    for (const int target : {STDOUT_FILENO, STDERR_FILENO}) {
      records_.add_stream(who.worker, target, pipes_.open_reader(who.worker, target));
    }
  }
  for (const job::WorkerEntry& who : worker_list.members) listener_->on_found(who.worker);
}

job::WorkerList Ranks::worker_list() const {
  job::WorkerList list{.next = next_};
  for (const auto& [rank, member] : members_) {
    if (!member.is_alive) continue;
    list.members.push_back(
        {.worker = rank, .pid = member.pid, .start = member.start, .share = member.share});
  }
  return list;
}

void Ranks::read_troubles() {
  SpawnTrouble trouble;
  while (read(trouble_pipe_.out.get(), &trouble, sizeof(trouble)) == sizeof(trouble)) {
    troubles_.push_back(trouble);
  }
}

std::optional<RankExit> Ranks::on_reaped(pid_t pid, int status, host::OomWatch& oom_watch) {
  const auto found = std::find_if(members_.begin(), members_.end(), [&](const auto& other) {
    return other.second.is_alive && other.second.pid == pid;
  });
  if (found == members_.end()) return std::nullopt;
  Member& member = found->second;
  member.is_alive = false;
  --living_;
  RankExit exit{.rank = found->first,
                .status = status,
                .signal_sent = member.signal_sent,
                .oom = host::OomKill::No,
                .not_started = {},
                .killed = member.killed};
  const bool is_killed = exit_code_of(exit) == 128 + SIGKILL;
  const bool is_ours = exit.signal_sent == SIGKILL || !exit.killed.empty();
  if (is_killed && !is_ours) exit.oom = oom_watch.explain(pid);
  read_troubles();
  for (const SpawnTrouble& trouble : troubles_) {
    if (trouble.rank == exit.rank) exit.not_started = describe(trouble);
  }
  std::erase_if(troubles_, [&](const SpawnTrouble& other) { return other.rank == exit.rank; });
  records_.add_exit(exit);
  return exit;
}

bool Ranks::has(pid_t pid, unsigned long long start) const {
  return std::any_of(members_.begin(), members_.end(), [&](const auto& other) {
    const Member& member = other.second;
    return member.is_alive && member.pid == pid && member.start == start;
  });
}

void Ranks::release_forgotten() {
  for (const int rank : records_.release_forgotten()) {
    members_.erase(rank);
    pipes_.remove(rank);
  }
}

void Ranks::kill_rank(int rank, const std::string& why) {
  const auto found = members_.find(rank);
  if (found == members_.end() || !found->second.is_alive) return;
  found->second.killed = why;
  if (kill(-found->second.pid, SIGKILL) != 0) kill(found->second.pid, SIGKILL);
}

void Ranks::signal(int signal) {
  for (auto& [rank, member] : members_) {
    if (!member.is_alive) continue;
    if (is_ending(signal)) {
      // A rank that is already dying does not end because of this signal.
      const auto process = host::find_process(member.pid);
      const bool is_well = process && !process->is_dying;
      const bool is_new = is_well || member.signal_sent != 0;
      if (is_new && member.signal_sent != SIGKILL) member.signal_sent = signal;
    }
    if (!is_for_group(signal) || kill(-member.pid, signal) != 0) kill(member.pid, signal);
    // A stopped process handles a signal only once it is continued.
    if (is_ending(signal)) kill(-member.pid, SIGCONT);
  }
}

}  // namespace trireme::cluster::launch
