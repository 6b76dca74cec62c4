#include "trireme/cluster/launch/hosts/fleet.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/base/exit_status.h"
#include "trireme/cluster/launch/hosts/dispatch.h"

namespace trireme::cluster::launch::hosts {
namespace {

using namespace std::chrono_literals;

// How long agents have to see their ranks dead before the connection is cut. The workers of an
// elastic job survive a cut connection, so there it is cut only as a last resort.
constexpr Duration kMercyTime = 3s;
constexpr Duration kElasticMercyTime = 10s;
// Once a worker has ended successfully, the others do too, so the wait for an unreachable host is
// short.
constexpr Duration kDoneSilenceMax = 15 * kBeatTime;
// Time after orphan_timeout until the workers of a lost host are certainly dead: its agent may
// notice the loss late, and has to kill them.
constexpr Duration kAdriftTime = kSilenceMax + 10s;

Deadline adrift_time(const JobSpec& spec) {
  return Deadline::after(spec.elastic->orphan_timeout + kAdriftTime);
}

std::size_t number_of(const Link::Options& options) {
  return static_cast<std::size_t>(options.order.host);
}

}  // namespace

Fleet::Fleet(Options options)
    : options_(std::move(options)),
      spec_(*options_.launcher->spec),
      hosted_ranks_(spec_.output, *options_.writer),
      size_(spec_.ranks) {}

void Fleet::begin(Upkeep* upkeep, const std::string& store, const std::string& feed) {
  upkeep_ = upkeep;
  const bool is_successor = options_.launcher->is_successor;
  for (Link::Options& link : dispatches(*options_.launcher, store, feed)) {
    Host& host = hosts_.emplace_back();
    host.options = std::move(link);
    host.link = std::make_unique<Link>(host.options, *this);
    const Order& order = host.options.order;
    for (int i = 0; i < order.ranks && upkeep_ == nullptr; ++i) {
      hosted_ranks_.add(order.first + i, number_of(host.options));
    }
    if (!is_successor) continue;
    // A host whose launcher died counts as lost until it reports which workers are alive.
    host.is_lost = true;
    host.why = "the launcher was killed";
    host.adrift = adrift_time(spec_);
  }
  for (const int worker : hosted_ranks_.all()) {
    if (!is_successor) break;
    upkeep_->supervision().on_started(worker, steady_clock().now());
    upkeep_->supervision().on_adrift(worker);
  }
  for (Host& host : hosts_) host.link->start();
}

void Fleet::take_over(const job::WorkerList& worker_list) {
  next_ = worker_list.next;
  has_begun_ = true;
  has_started_ = worker_list.is_done || !worker_list.members.empty();
  for (const job::WorkerEntry& member : worker_list.members) {
    hosted_ranks_.add(member.worker, static_cast<std::size_t>(member.share), true);
    hosted_ranks_.set_adrift(member.worker, true);
  }
}

std::vector<HostCapacity> Fleet::capacities() const {
  std::vector<HostCapacity> all;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    all.push_back({.ranks = hosts_[i].options.order.ranks,
                   .living = hosted_ranks_.living_at(i),
                   .is_up = hosts_[i].is_up,
                   .is_given_up = hosts_[i].retry.is_given_up()});
  }
  return all;
}

bool Fleet::is_running() const {
  const auto is_there = [](const Host& host) { return host.link && !host.link->is_over(); };
  return (upkeep_ != nullptr && !is_ended_) || std::ranges::any_of(hosts_, is_there);
}

void Fleet::add_waits(std::vector<pollfd>& waits, bool has_room) const {
  for (const Host& host : hosts_) {
    if (host.link) host.link->add_waits(waits, has_room);
  }
}

Deadline Fleet::next() const {
  Deadline next = min(beat_, mercy_);
  for (const Host& host : hosts_) {
    next = min(next, host.adrift);
    if (is_going_on()) next = min(next, host.retry.next());
  }
  return next;
}

void Fleet::pump() {
  for (Host& host : hosts_) {
    if (!host.link) continue;
    host.link->pump(steady_clock().now(), options_.writer->has_room());
    if (host.link->take_over()) on_over(host);
  }
  keep_time();
  if (upkeep_ != nullptr) keep_up();
}

void Fleet::for_each_link(const std::function<void(Link&)>& act) {
  for (const Host& host : hosts_) {
    if (host.link) act(*host.link);
  }
}

void Fleet::keep_time() {
  if (beat_.is_past()) {
    beat_ = Deadline::after(kBeatTime);
    for_each_link([](Link& link) { link.beat(); });
  }
  if (mercy_.is_past()) {
    mercy_ = Deadline::never();
    for_each_link([](Link& link) { link.cut("it did not end in time"); });
  }
}

void Fleet::keep_up() {
  for (Host& host : hosts_) {
    if (host.adrift.is_past()) end_adrift(host);
    if (host.retry.next().is_past() && is_going_on()) try_again(host);
  }
  start_first();
  if (has_started_ && !is_ended_) upkeep_->supervise();
  if (upkeep_->supervision().is_done()) {
    for_each_link([](Link& link) { link.hurry(kDoneSilenceMax); });
  }
  const bool is_over = options_.ending->has_begun() || upkeep_->supervision().is_over();
  if (is_over && hosted_ranks_.living() == 0) end_agents();
}

// The first workers start once every host is up, or was lost meanwhile.
void Fleet::start_first() {
  if (has_started_ || !is_going_on() || hosts_.empty()) return;
  const auto is_settled = [](const Host& host) { return host.is_up || host.is_lost; };
  const int count = room(spec_.ranks);
  if (!std::ranges::all_of(hosts_, is_settled) || count == 0) return;
  has_started_ = true;
  upkeep_->start(count, {});
}

// No worker is left that could be asked to end, so the agents are.
void Fleet::end_agents() {
  if (std::exchange(is_ended_, true)) return;
  for (const Host& host : hosts_) {
    if (!host.link || host.link->is_over()) continue;
    if (host.is_up) {
      host.link->end();
    } else {
      host.link->cut("the job ended");
    }
  }
  mercy_ = min(mercy_, Deadline::after(kElasticMercyTime));
}

void Fleet::signal(int signal) {
  for_each_link([&](Link& link) { link.signal(signal); });
  // An agent that has no ranks yet only waits for the connection to close.
  if (options_.ending->has_begun() && !has_begun_) kill();
}

void Fleet::kill() {
  if (upkeep_ != nullptr) return end_agents();
  mercy_ = min(mercy_, Deadline::after(kMercyTime));
}

void Fleet::on_reaped(pid_t pid, int status) {
  for (const Host& host : hosts_) {
    if (host.link && host.link->on_reaped(pid, status, steady_clock().now())) return;
  }
}

void Fleet::on_ready(Link& link) {
  if (upkeep_ != nullptr && has_begun_) return link.go();
  if (++ready_ < hosts_.size() || options_.ending->has_begun()) return;
  has_begun_ = true;
  for_each_link([](Link& other) { other.go(); });
}

void Fleet::on_started(Link& link, const RankStart& start) {
  if (hosted_ranks_.has(start.rank, link.number())) hosted_ranks_.set_pid(start.rank, start.pid);
  options_.publish(noun() + " started",
                   {{noun(), start.rank}, {"pid", start.pid}, {"host", link.host()}});
  if (upkeep_ != nullptr) options_.note();
}

void Fleet::on_ended(Link& link, RankExit exit) {
  if (!hosted_ranks_.has(exit.rank, link.number())) {
    // The agent may repeat ends that were reported before a connection was lost.
    if (upkeep_ != nullptr) return;
    throw Error(ErrorCode::Protocol, "the agent reported the end of a rank that is not its own");
  }
  exit.host = link.host();
  // Another process asked its agent to end.
  if (!options_.ending->has_begun() && upkeep_ == nullptr) exit.signal_sent = 0;
  take_end(exit);
}

void Fleet::on_aboard(Link& link, const std::vector<RankStart>& living) {
  if (upkeep_ == nullptr) throw Error(ErrorCode::Protocol, "an agent of another type of job");
  Host& host = hosts_[link.number()];
  host.is_up = true;
  host.adrift = Deadline::never();
  host.retry.on_up(steady_clock().now());
  std::set<int> there;
  for (const RankStart& start : living) {
    there.insert(start.rank);
    welcome(link.number(), start);
  }
  for (const int worker : hosted_ranks_.at(link.number())) {
    if (!there.contains(worker)) lose_worker(host, worker);
  }
  if (!std::exchange(host.is_lost, false)) return;
  const auto count = static_cast<int>(living.size());
  options_.ending->say("host " + link.host() + " is back, with " + std::to_string(count) +
                       (count == 1 ? " worker" : " workers"));
  options_.publish("host back", {{"host", link.host()}, {"workers", count}});
}

void Fleet::on_words(Link& link, std::string_view line) {
  // What ssh prints while a lost host is retried is reported only once, in on_lost().
  if (hosts_[link.number()].is_lost) return;
  options_.ending->say(link.host() + ": " + std::string(line));
}

int Fleet::start_worker(const std::vector<std::string>& arguments) {
  const auto capacity = next_berth(upkeep_->supervision().wanted(), capacities());
  if (!capacity) throw Error(ErrorCode::Unreachable, "no host is reachable");
  const int worker = next_++;
  hosted_ranks_.add(worker, *capacity);
  hosts_[*capacity].link->start_worker({.worker = worker, .size = size_, .arguments = arguments});
  return worker;
}

void Fleet::kill_workers() {
  for (const Host& host : hosts_) {
    if (host.is_up) host.link->signal(SIGKILL);
  }
}

void Fleet::kill_worker(int worker, const std::string& why) {
  const Host& host = hosts_[hosted_ranks_.host_of(worker)];
  if (!host.is_up) return;
  hosted_ranks_.set_killed(worker, why);
  host.link->kill_worker(worker);
}

// A live worker on a host that is up, or up again.
void Fleet::welcome(std::size_t number, const RankStart& start) {
  if (!hosted_ranks_.has(start.rank, number)) {
    // An earlier launcher was killed before it had recorded this worker.
    hosted_ranks_.add(start.rank, number, true);
    upkeep_->supervision().on_started(start.rank, steady_clock().now());
    next_ = std::max(next_, start.rank + 1);
  } else if (hosted_ranks_.is_adrift(start.rank)) {
    hosted_ranks_.set_adrift(start.rank, false);
    upkeep_->supervision().on_back(start.rank, steady_clock().now());
  }
  hosted_ranks_.set_pid(start.rank, start.pid);
}

void Fleet::take_end(const RankExit& seen) {
  const RankExit exit = hosted_ranks_.end(seen);
  if (upkeep_ != nullptr) {
    return upkeep_->on_ended(exit, hosted_ranks_.tail(exit.rank).failure());
  }
  const bool has_failed = !exit.is_success() && !exit.is_ours();
  options_.publish(has_failed ? "rank failed" : "rank ended",
                   {{"rank", exit.rank}, {"host", exit.host}, {"how", describe(exit)}});
  if (exit.is_success() || options_.ending->has_begun()) return;
  options_.ending->begin("rank " + std::to_string(exit.rank) + " failed");
}

void Fleet::lose_worker(const Host& host, int worker) {
  RankExit exit{.rank = worker, .status = SIGKILL, .host = host.options.host, .lost = host.why};
  // If the end was requested, no rank is to blame for it.
  const bool is_ending = options_.ending->has_begun();
  if (options_.ending->is_told() || (upkeep_ != nullptr && is_ending)) exit.signal_sent = SIGKILL;
  take_end(exit);
}

// A host is gone: after an orderly end, or with its ranks.
void Fleet::on_over(Host& host) {
  const std::string why = host.link->failure();
  if (!has_begun_) return on_unusable(host, why);
  if (upkeep_ != nullptr && is_going_on()) return on_lost(host, why);
  const std::vector<int> lost = hosted_ranks_.at(number_of(host.options));
  if (lost.empty()) return;
  host.why = why;
  options_.publish("host lost", {{"host", host.options.host}, {"why", why}});
  for (const int rank : lost) lose_worker(host, rank);
}

void Fleet::on_unusable(const Host& host, const std::string& why) {
  if (options_.ending->has_begun()) return;
  const std::string what = "host " + host.options.host + " cannot take part";
  options_.ending->say(what + ": " + why);
  options_.ending->begin(what, kExitFailure);
}

// The workers on it may continue without the launcher for a while; they are not replaced meanwhile.
void Fleet::on_lost(Host& host, const std::string& why) {
  const std::size_t number = number_of(host.options);
  const std::vector<int> workers = hosted_ranks_.at(number);
  const std::string name = "host " + host.options.host;
  if (!std::exchange(host.is_lost, true)) {
    options_.ending->say(name + " was lost: " + why + "; trying to reach it again");
    options_.publish(
        "host lost",
        {{"host", host.options.host}, {"why", why}, {"workers", static_cast<int>(workers.size())}});
    host.why = why;
    host.trouble.clear();
    host.adrift = adrift_time(spec_);
  } else if (std::exchange(host.trouble, why) != why) {
    options_.ending->say(name + " is not back yet: " + why);
  }
  host.is_up = false;
  for (const int worker : workers) {
    hosted_ranks_.set_adrift(worker, true);
    upkeep_->supervision().on_adrift(worker);
  }
  const int wanted = upkeep_->supervision().wanted();
  const int part = distribute(wanted, capacities())[number];
  host.retry.on_lost(steady_clock().now());
  if (host.retry.is_given_up()) give_up(host, wanted - part);
  options_.note();
}

void Fleet::try_again(Host& host) {
  host.retry.on_tried();
  host.link = std::make_unique<Link>(host.options, *this);
  try {
    host.link->start();
  } catch (const Error& error) {
    host.link.reset();
    on_lost(host, error.message());
  }
}

void Fleet::end_adrift(Host& host) {
  host.adrift = Deadline::never();
  for (const int worker : hosted_ranks_.at(number_of(host.options))) {
    if (hosted_ranks_.is_adrift(worker)) lose_worker(host, worker);
  }
}

// The other workers continue, if there are enough of them.
void Fleet::give_up(Host& host, int left) {
  const std::string why = "host " + host.options.host + " was not reached again and is given up";
  options_.ending->say(why);
  options_.publish("host given up", {{"host", host.options.host}, {"why", host.why}});
  // Its workers may still be alive for a while: pump() determines when they are certainly dead.
  if (left >= spec_.elastic->least && left > 0) return upkeep_->set_wanted(left);
  options_.ending->begin(why + ": fewer workers are left than the job needs", kExitFailure);
}

}  // namespace trireme::cluster::launch::hosts
