#include "trireme/cluster/launch/upkeep.h"

#include <chrono>
#include <cstdint>
#include <utility>

#include "trireme/base/bytes.h"
#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/base/exit_status.h"
#include "trireme/cluster/rank_names.h"
#include "trireme/net/address.h"

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

// Time for a coordinator to start listening.
constexpr auto kListenTime = 10s;

// A replacement would end the same way.
bool is_refusal(const RankExit& exit) {
  const int code = exit_code_of(exit);
  return code == kExitUsage || code == kExitDiverged || code == kExitFinal;
}

std::string loss_text(const RankExit& exit, const std::string& failure) {
  const std::string where = exit.host.empty() ? "" : " on " + exit.host;
  const std::string loss = "worker " + std::to_string(exit.rank) + where + " was lost: ";
  if (!failure.empty()) return loss + failure;
  const bool is_killed =
      exit_code_of(exit) == 128 + SIGKILL && exit.oom == host::OomKill::No && exit.killed.empty();
  if (!is_killed) return loss + describe(exit);
  return loss +
         "killed by signal 9 (kill -9, or evicted by another worker, which prints the reason)";
}

}  // namespace

Upkeep::Upkeep(Options options)
    : options_(std::move(options)),
      spec_(*options_.spec),
      supervision_(*spec_.elastic, spec_.ranks),
      lone_watch_(spec_.elastic->heartbeat),
      store_(options_.etcd->text()) {
  if (options_.etcd->place()) return;
  CoordinatorProcess::Options coordinator{.folder = options_.folder->path(),
                                          .orphan_timeout = spec_.elastic->orphan_timeout,
                                          .mask = options_.mask};
  if (!options_.listen.empty()) {
    coordinator.listen = net::Address::tcp(options_.listen, 0).to_text();
  }
  coordinator_.emplace(std::move(coordinator));
}

void Upkeep::begin() {
  options_.etcd->clear();
  if (coordinator_) coordinator_->start();
  link();
}

void Upkeep::take_over(const job::WorkerList& worker_list) {
  if (coordinator_) coordinator_->adopt();
  link();
  supervision_.set_wanted(worker_list.wanted);
  if (worker_list.is_done) supervision_.set_done();
}

void Upkeep::link() {
  StoreLink::Options link{.folder = options_.folder->path(),
                          .lone_watch = &lone_watch_,
                          .etcd = options_.etcd->place()};
  if (coordinator_ && !options_.listen.empty()) {
    store_ = coordinator_->address(Deadline::after(kListenTime));
    link.address = store_;
  }
  link_ = std::make_unique<StoreLink>(std::move(link));
}

job::WorkerList Upkeep::worker_list(int next, std::vector<job::WorkerEntry> members) const {
  return {.next = next,
          .wanted = supervision_.wanted(),
          .is_done = supervision_.is_done(),
          .members = std::move(members)};
}

void Upkeep::supervise() {
  if (options_.ending->has_begun() || is_ended_) return;
  const TimePoint now = steady_clock().now();
  if (link_) {
    if (const auto members = link_->take_confirmed()) {
      supervision_.confirm_members(*members, now);
    } else {
      supervision_.set_members(link_->members(), now);
    }
    if (const auto worker = link_->take_silent()) {
      options_.workers->kill_worker(
          *worker, "killed: no heartbeat for " + name_seconds(spec_.elastic->heartbeat));
    }
    if (const auto announced = link_->announced()) {
      supervision_.set_announced(announced->workers, announced->as_of);
    }
  }
  supervision_.set_room(options_.workers->room(supervision_.wanted()), now);
  const Decision decision = supervision_.decide(now);
  const bool is_decided = !supervision_.has_undecided_deaths() || supervision_.is_done();
  if (decision.kind != Decision::Kind::End && is_decided) say_losses();
  switch (decision.kind) {
    case Decision::Kind::Wait:
      return;
    case Decision::Kind::Start:
      return start(decision.count, {});
    case Decision::Kind::Confirm:
      return link_->confirm_members();
    case Decision::Kind::Clear:
      return options_.workers->kill_workers();
    case Decision::Kind::Kill:
      for (const int worker : decision.workers) {
        options_.workers->kill_worker(worker, decision.why);
      }
      return;
    case Decision::Kind::StartAnew:
      return begin_anew(decision.count);
    case Decision::Kind::End:
      options_.ending->say(decision.why);
      return options_.ending->begin(decision.why);
  }
}

void Upkeep::start(int count, const std::vector<std::string>& arguments) {
  options_.workers->forget_exits();
  try {
    for (int i = 0; i < count; ++i) {
      newest_ = options_.workers->start_worker(arguments);
      supervision_.on_started(newest_, steady_clock().now());
    }
  } catch (const Error& error) {
    on_not_started(error);
  }
  options_.workers->note_workers();
}

// Epochs that the dead workers had agreed on are discarded.
void Upkeep::begin_anew(int count) {
  options_.ending->say("all workers are gone: restarting the job with " + std::to_string(count));
  options_.publish("job begins anew", {{"workers", count}});
  try {
    if (coordinator_) coordinator_->reset();
    options_.etcd->clear();
    link_->forget_members();
    if (has_scaled_) link_->set_wanted(supervision_.wanted());
  } catch (const Error& error) {
    options_.ending->say(std::string("the store could not be emptied: ") + error.what());
  }
  options_.workers->set_size(count);
  start(count, spec_.elastic->resume_arguments);
}

bool Upkeep::on_reaped(pid_t pid) {
  if (!coordinator_ || pid != coordinator_->pid()) return false;
  on_coordinator_ended();
  return true;
}

bool Upkeep::has_coordinator(pid_t pid, unsigned long long start) const {
  return coordinator_ && coordinator_->pid() == pid && coordinator_->start_time() == start;
}

void Upkeep::look_at_coordinator() {
  if (coordinator_ && coordinator_->pid() > 0 && !coordinator_->is_there()) on_coordinator_ended();
}

void Upkeep::on_coordinator_ended() {
  coordinator_->forget();
  if (options_.ending->has_begun() || is_ended_) return;
  options_.publish("coordinator lost", {});
  try {
    coordinator_->start();
    options_.publish("coordinator started", {{"pid", coordinator_->pid()}});
  } catch (const Error& error) {
    options_.ending->say(error.what());
    options_.ending->begin(error.what(), kExitFailure);
  }
}

void Upkeep::note_loss(const RankExit& exit, const std::string& failure) {
  const bool is_lost = !exit.is_success() && !exit.is_ours() && !exit.is_dismissed();
  Record record{
      {"worker", exit.rank}, {"how", describe(exit)}, {"oom", exit.oom != host::OomKill::No}};
  if (!exit.host.empty()) record.add({"host", exit.host});
  if (!failure.empty()) record.add({"why", failure});
  options_.publish(is_lost ? "worker lost" : "worker ended", record);
  if (!is_lost || options_.ending->has_begun()) return;
  losses_.push_back(loss_text(exit, failure));
  const bool may_end_the_job = is_refusal(exit) || exit_code_of(exit) == kExitRefused;
  if (!may_end_the_job) say_losses();
}

void Upkeep::say_losses() {
  for (const std::string& loss : std::exchange(losses_, {})) options_.ending->say(loss);
}

void Upkeep::on_ended(const RankExit& exit, const std::string& failure) {
  note_loss(exit, failure);
  const TimePoint now = steady_clock().now();
  if (!exit.lost.empty()) {
    supervision_.on_gone(exit.rank, now);
  } else if (exit.is_success()) {
    supervision_.on_finished(exit.rank);
  } else if (exit.is_dismissed()) {
    supervision_.on_left(exit.rank, now);
  } else if (exit_code_of(exit) == kExitRefused) {
    on_refused(exit.rank, now);
  } else {
    supervision_.on_died(exit.rank, is_refusal(exit), now);
  }
  // Once the training is done, the failure of a late worker does not matter.
  if (supervision_.is_done() && !options_.ending->has_begun()) options_.workers->forget_exits();
  options_.workers->note_workers();
}

void Upkeep::on_request(const job::ControlRequest& request) {
  if (!request.caller) return;
  const std::string mistake = scale(request);
  if (!mistake.empty()) return request.caller->fail(Error(ErrorCode::InvalidInput, mistake));
  const bool is_join = request.kind == job::ControlRequest::Kind::Join;
  const int answer = is_join ? newest_ : supervision_.wanted();
  request.caller->reply(ByteWriter().put(static_cast<std::int32_t>(answer)).bytes());
}

// Empty, or the reason why the request is refused.
std::string Upkeep::scale(const job::ControlRequest& request) {
  const std::string name = "job " + options_.folder->name();
  if (options_.ending->has_begun() || supervision_.is_done()) return name + " is ending";
  const bool is_join = request.kind == job::ControlRequest::Kind::Join;
  const int count = is_join ? supervision_.wanted() + 1 : request.count;
  if (count < spec_.elastic->least || count > spec_.elastic->most) {
    return name + " has from " + std::to_string(spec_.elastic->least) + " to " +
           std::to_string(spec_.elastic->most) + " workers, not " + std::to_string(count);
  }
  const int alive_before = options_.workers->living();
  set_wanted(count);
  supervise();
  options_.workers->note_workers();
  if (is_join && options_.workers->living() <= alive_before) {
    return "the worker could not be started";
  }
  return {};
}

void Upkeep::set_wanted(int count) {
  supervision_.set_wanted(count);
  has_scaled_ = true;
  link_->set_wanted(count);
  options_.publish("workers wanted", {{"count", count}});
}

// Replacements would only use up the restarts.
void Upkeep::on_refused(int worker, TimePoint now) {
  const int count = supervision_.wanted() - 1;
  const bool has_others = options_.workers->living() + supervision_.adrift() > 0;
  if (!has_others || count < spec_.elastic->least) {
    return supervision_.on_died(worker, true, now);
  }
  supervision_.on_left(worker, now);
  say_losses();
  options_.ending->say("worker " + std::to_string(worker) +
                       " is not replaced, because a replacement would be refused too: continuing "
                       "with " +
                       std::to_string(count) + (count == 1 ? " worker" : " workers"));
  options_.workers->forget_exits();
  set_wanted(count);
}

// The host is out of processes or descriptors: the live workers continue if there are enough of
// them.
void Upkeep::on_not_started(const Error& error) {
  const std::string why = std::string("a worker could not be started: ") + error.what();
  options_.ending->say(why);
  options_.publish("worker not started", {{"why", error.what()}});
  const int living = options_.workers->living() + supervision_.adrift();
  if (living >= spec_.elastic->least && living > 0) return set_wanted(living);
  options_.ending->begin(why, kExitFailure);
}

void Upkeep::end() {
  is_ended_ = true;
  link_.reset();
  if (coordinator_ && coordinator_->pid() > 0) kill(coordinator_->pid(), SIGKILL);
}

}  // namespace trireme::cluster::launch
