#include "trireme/cluster/launch/elastic/elastic_job.h"

#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "trireme/base/bytes.h"
#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/base/exit_status.h"
#include "trireme/cluster/rank_names.h"

namespace trireme::cluster::launch {
namespace {

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

Bytes number_bytes(int number) {
  return ByteWriter().put(static_cast<std::int32_t>(number)).bytes();
}

}  // namespace

ElasticJob::ElasticJob(Options options)
    : JobPolicy(std::move(options)),
      elastic_(*spec().elastic),
      ranks_(*this->options().ranks),
      records_(*this->options().records),
      ending_(*this->options().ending),
      supervision_(elastic_, spec().ranks),
      lone_watch_(elastic_.heartbeat),
      size_(spec().ranks) {}

void ElasticJob::begin(bool is_successor) {
  StoreLink::Options link = options().rendezvous->link();
  link.lone_watch = &lone_watch_;
  link_ = std::make_unique<StoreLink>(std::move(link));
  if (is_successor) {
    take_over();
  } else {
    note();  // this launcher may die before it has started a worker
  }
}

void ElasticJob::take_over() {
  const auto list = job::WorkerList::load(options().folder->worker_list());
  if (!list) throw Error(ErrorCode::Corrupt, "the previous launcher left no list of its workers");
  has_started_ = list->is_done || !list->members.empty();
  supervision_.set_wanted(list->wanted);
  has_scaled_ = list->wanted != spec().ranks;
  if (list->is_done) supervision_.set_done();
  ranks_.take_over(*list);
  const auto count = static_cast<int>(list->members.size());
  publish("launcher replaced", {{"pid", getpid()}, {"workers", count}});
}

void ElasticJob::note() const {
  try {
    job::WorkerList list = ranks_.worker_list();
    list.wanted = supervision_.wanted();
    list.is_done = supervision_.is_done();
    list.save(options().folder->worker_list());
  } catch (const Error&) {
    // A full disk must not end a running job.
  }
  options().note();
}

// Workers that are stopped send no heartbeats and do not join.
void ElasticJob::set_paused(bool is_paused) {
  is_paused_ = is_paused;
  lone_watch_.set_paused(is_paused);
  if (link_) link_->take_silent();  // noticed just before
}

void ElasticJob::supervise() {
  if (!link_) return;
  link_->clear_event();
  if (ending_.has_begun() || is_paused_) return;
  if (!has_started_) return start_first();
  read_store();
  supervision_.set_room(ranks_.room(supervision_.wanted()), steady_clock().now());
  const Decision decision = supervision_.decide(steady_clock().now());
  const bool is_decided = !supervision_.has_undecided_deaths() || supervision_.is_done();
  if (decision.kind != Decision::Kind::End && is_decided) say_losses();
  act(decision);
}

void ElasticJob::read_store() {
  const TimePoint now = steady_clock().now();
  if (const auto members = link_->take_confirmed()) {
    supervision_.confirm_members(*members, now);
  } else {
    supervision_.set_members(link_->members(), now);
  }
  if (const auto worker = link_->take_silent()) {
    ranks_.kill_rank(*worker, "killed: no heartbeat for " + name_seconds(elastic_.heartbeat));
  }
  if (const auto announced = link_->announced()) {
    supervision_.set_announced(announced->workers, announced->as_of);
  }
}

void ElasticJob::act(const Decision& decision) {
  switch (decision.kind) {
    case Decision::Kind::Wait:
      return;
    case Decision::Kind::Start:
      return start(decision.count, {});
    case Decision::Kind::Confirm:
      return link_->confirm_members();
    case Decision::Kind::Clear:
      return ranks_.signal(SIGKILL);
    case Decision::Kind::Kill:
      for (const int worker : decision.workers) ranks_.kill_rank(worker, decision.why);
      return;
    case Decision::Kind::Restart:
      return restart(decision.count);
    case Decision::Kind::End:
      ending_.say(decision.why);
      return ending_.begin(decision.why);
  }
}

// Unreachable hosts do not keep the others waiting.
void ElasticJob::start_first() {
  const int count = ranks_.is_ready() ? ranks_.room(supervision_.wanted()) : 0;
  if (count == 0) return;
  has_started_ = true;
  // An earlier launcher had started workers, of which none is left.
  if (ranks_.worker_list().next > 0) return restart(count);
  start(count, {});
}

void ElasticJob::start(int count, const std::vector<std::string>& arguments) {
  records_.forget_exits();
  try {
    for (int i = 0; i < count; ++i) {
      const int worker = ranks_.start_rank(size_, arguments);
      supervision_.on_started(worker, steady_clock().now());
      answer_join(worker);
    }
  } catch (const Error& error) {
    on_not_started(error);
  }
  note();
}

// Epochs that the dead workers had agreed on are discarded.
void ElasticJob::restart(int count) {
  ending_.say("all workers are gone: restarting the job with " + std::to_string(count));
  publish("job restarted", {{"workers", count}});
  try {
    options().rendezvous->reset();
    link_->forget_members();
    if (has_scaled_) link_->set_wanted(supervision_.wanted());
  } catch (const Error& error) {
    ending_.say(std::string("the store could not be emptied: ") + error.what());
  }
  size_ = count;
  start(count, elastic_.resume_arguments);
}
void ElasticJob::on_given_up(const std::string& why, int left) {
  if (left >= elastic_.least && left > 0) return set_wanted(left);
  ending_.begin(why + ": fewer workers are left than the job needs", kExitFailure);
}

void ElasticJob::note_loss(const RankExit& exit, const std::string& failure) {
  const bool is_lost = !exit.is_success() && !exit.is_ours() && !exit.is_dismissed();
  Record record{
      {"worker", exit.rank}, {"how", describe(exit)}, {"oom", exit.oom != host::OomKill::No}};
  if (!exit.host.empty()) record.add({"host", exit.host});
  if (!failure.empty()) record.add({"why", failure});
  publish(is_lost ? "worker lost" : "worker ended", record);
  if (!is_lost || ending_.has_begun()) return;
  losses_.push_back(loss_text(exit, failure));
  const bool may_end_the_job = is_refusal(exit) || exit_code_of(exit) == kExitRefused;
  if (!may_end_the_job) say_losses();
}

void ElasticJob::say_losses() {
  for (const std::string& loss : std::exchange(losses_, {})) ending_.say(loss);
}

void ElasticJob::on_ended(const RankExit& exit, const std::string& failure) {
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
  if (supervision_.is_done() && !ending_.has_begun()) records_.forget_exits();
  note();
}

void ElasticJob::on_request(const job::ControlRequest& request) {
  if (!request.caller) return;
  const std::string mistake = scale(request);
  if (!mistake.empty()) return request.caller->fail(Error(ErrorCode::InvalidInput, mistake));
  // A dismissed worker that has not ended yet keeps its place until then.
  const bool is_join = request.kind == job::ControlRequest::Kind::Join;
  if (is_join) joins_.push_back(request.caller);
  supervise();
  note();
  if (!is_join) request.caller->reply(number_bytes(supervision_.wanted()));
}

void ElasticJob::answer_join(int worker) {
  if (joins_.empty()) return;
  joins_.front()->reply(number_bytes(worker));
  joins_.pop_front();
}

// Returns the reason why the request is refused, or nothing.
std::string ElasticJob::scale(const job::ControlRequest& request) {
  const std::string name = "job " + options().folder->name();
  if (ending_.has_begun() || supervision_.is_done()) return name + " is ending";
  const bool is_join = request.kind == job::ControlRequest::Kind::Join;
  const int count = is_join ? supervision_.wanted() + 1 : request.count;
  if (count < elastic_.least || count > elastic_.most) {
    return name + " has from " + std::to_string(elastic_.least) + " to " +
           std::to_string(elastic_.most) + " workers, not " + std::to_string(count);
  }
  set_wanted(count);
  return {};
}

void ElasticJob::set_wanted(int count) {
  supervision_.set_wanted(count);
  has_scaled_ = true;
  if (link_) link_->set_wanted(count);
  publish("workers wanted", {{"count", count}});
}

// Replacements would only use up the restarts.
void ElasticJob::on_refused(int worker, TimePoint now) {
  const int count = supervision_.wanted() - 1;
  const bool has_others = ranks_.living() + supervision_.unreachable() > 0;
  if (!has_others || count < elastic_.least) {
    return supervision_.on_died(worker, true, now);
  }
  supervision_.on_left(worker, now);
  say_losses();
  ending_.say("worker " + std::to_string(worker) +
              " is not replaced, because a replacement would be refused too: continuing "
              "with " +
              std::to_string(count) + (count == 1 ? " worker" : " workers"));
  records_.forget_exits();
  set_wanted(count);
}

// The host is out of processes or descriptors: the live workers continue if there are enough of
// them.
void ElasticJob::on_not_started(const Error& error) {
  const std::string why = std::string("a worker could not be started: ") + error.what();
  ending_.say(why);
  publish("worker not started", {{"why", error.what()}});
  for (const auto& caller : std::exchange(joins_, {})) {
    caller->fail(Error(ErrorCode::Exhausted, why));
  }
  const int living = ranks_.living() + supervision_.unreachable();
  if (living >= elastic_.least && living > 0) return set_wanted(living);
  ending_.begin(why, kExitFailure);
}

}  // namespace trireme::cluster::launch
