#include "trireme/cluster/launch/hosts/fleet.h"

#include <signal.h>
#include <sys/resource.h>

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
constexpr Duration kEndTime = 3s;
constexpr Duration kElasticEndTime = 10s;
// Once a worker has ended successfully, the others do too, so the wait for an unreachable host is
// short.
constexpr Duration kDoneSilenceMax = 15 * kBeatTime;

// Every rank has two connections, every host three pipes.
void make_room_for_connections() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

Fleet::Fleet(Options options)
    : options_(std::move(options)),
      spec_(*options_.launcher->spec),
      hosted_ranks_(spec_.output, *options_.writer) {}

void Fleet::begin(HostListener& listener, const std::string& store, const std::string& feed) {
  make_room_for_connections();
  listener_ = &listener;
  ranks_.begin(listener);
  for (HostLink::Options& link : dispatches(*options_.launcher, store, feed)) {
    hosts_.push_back(std::make_unique<RemoteHost>(std::move(link), *this));
  }
  for (const auto& host : hosts_) {
    // A host whose launcher died counts as lost until it reports which ranks are alive.
    if (options_.launcher->is_successor) host->on_disconnected("the launcher was killed", true);
    host->connect();
  }
}

bool Fleet::is_running() const {
  return std::ranges::any_of(hosts_, [](const auto& host) { return host->is_running(); });
}

Deadline Fleet::add_waits(std::vector<pollfd>& waits, bool has_room) const {
  Deadline next = min(beat_, cut_);
  for (const auto& host : hosts_) {
    if (host->link() != nullptr) host->link()->add_waits(waits, has_room);
    next = min(next, host->dead_by());
    if (is_going_on()) next = min(next, host->retry());
  }
  return next;
}

void Fleet::pump(std::span<const pollfd> /*waits*/) {
  hosted_ranks_.release_forgotten();
  for (const auto& host : hosts_) {
    HostLink* const link = host->link();
    if (link == nullptr) continue;
    link->pump(steady_clock().now(), options_.writer->has_room());
    if (link->take_over()) on_over(*host);
  }
  keep_time();
  for (const auto& host : hosts_) {
    if (host->dead_by().is_past()) {
      host->forget_dead();
      std::vector<int> ranks = hosted_ranks_.at(host->number());
      std::erase_if(ranks, [this](int rank) { return hosted_ranks_.is_reachable(rank); });
      lose_ranks(*host, ranks);
    }
    if (host->retry().is_past() && is_going_on()) connect_again(*host);
  }
}

void Fleet::for_each_link(const std::function<void(HostLink&)>& act) {
  for (const auto& host : hosts_) {
    if (host->link() != nullptr) act(*host->link());
  }
}

void Fleet::keep_time() {
  if (beat_.is_past()) {
    beat_ = Deadline::after(kBeatTime);
    for_each_link([](HostLink& link) { link.beat(); });
  }
  if (listener_ != nullptr && listener_->is_done()) {
    for_each_link([](HostLink& link) { link.hurry(kDoneSilenceMax); });
  }
  if (!cut_.is_past()) return;
  // Output that waits for the reader of this process is not the fault of an agent.
  const bool is_reader_slow = !options_.writer->has_room() && !options_.ending->is_told();
  cut_ = is_reader_slow ? Deadline::after(kEndTime) : Deadline::never();
  if (is_reader_slow) return;
  for_each_link([](HostLink& link) { link.cut("it did not end in time"); });
}

void Fleet::connect_again(RemoteHost& host) {
  try {
    host.connect();
  } catch (const Error& error) {
    on_lost(host, error.message());
  }
}

void Fleet::end() {
  const bool is_first = !std::exchange(is_ended_, true);
  for (const auto& host : hosts_) {
    if (is_first) host->end();
  }
  if (!options_.ending->has_begun() && !spec_.elastic) return;
  cut_ = min(cut_, Deadline::after(spec_.elastic ? kElasticEndTime : kEndTime));
}

void Fleet::on_reaped(pid_t pid, int status) {
  for (const auto& host : hosts_) {
    HostLink* const link = host->link();
    if (link != nullptr && link->on_reaped(pid, status, steady_clock().now())) return;
  }
}

void Fleet::on_started(HostLink& link, const RankStart& start) {
  listener_->on_started(start.rank, {{"pid", start.pid}, {"host", link.host()}});
}

void Fleet::on_ended(HostLink& link, RankExit exit) {
  // An agent repeats ends that it reported before a connection was lost.
  if (!hosted_ranks_.has(exit.rank, link.number())) return;
  exit.host = link.host();
  // Another process asked its agent to end.
  if (is_going_on() && !spec_.elastic) exit.signal_sent = 0;
  end_rank(exit);
}

void Fleet::on_living(HostLink& link, const std::vector<RankStart>& living) {
  RemoteHost& host = *hosts_[link.number()];
  const bool was_lost = host.on_up(steady_clock().now());
  std::set<int> there;
  for (const RankStart& start : living) {
    there.insert(start.rank);
    on_found(link.number(), start.rank);
  }
  std::vector<int> dead = hosted_ranks_.at(link.number());
  std::erase_if(dead, [&](int rank) { return there.contains(rank); });
  lose_ranks(host, dead);
  if (!was_lost) return;
  const auto count = static_cast<int>(living.size());
  options_.ending->say("host " + host.name() + " is back, with " + std::to_string(count) +
                       (count == 1 ? " worker" : " workers"));
  options_.publish("host back", {{"host", host.name()}, {"workers", count}});
}

// A live rank on a host that is up, or up again.
void Fleet::on_found(std::size_t number, int rank) {
  if (!hosted_ranks_.has(rank, number)) {
    // An earlier launcher was killed before it had recorded this worker.
    hosted_ranks_.add(rank, number, true);
  } else if (hosted_ranks_.is_reachable(rank)) {
    return;
  }
  hosted_ranks_.set_reachable(rank, true);
  listener_->on_found(rank);
}

void Fleet::on_words(HostLink& link, std::string_view line) {
  // What ssh prints while a lost host is tried again is reported only once, in on_lost().
  if (hosts_[link.number()]->is_lost()) return;
  options_.ending->say(link.host() + ": " + std::string(line));
}

void Fleet::end_rank(const RankExit& exit) {
  const RankExit whole = hosted_ranks_.end(exit);
  listener_->on_ended(whole, hosted_ranks_.records().tail(whole.rank).failure());
}

void Fleet::lose_ranks(const RemoteHost& host, const std::vector<int>& ranks) {
  for (const int rank : ranks) {
    RankExit exit{.rank = rank, .status = SIGKILL, .host = host.name(), .lost = host.why()};
    // If the end was requested, no rank is to blame for it.
    const bool is_ending = options_.ending->has_begun();
    if (options_.ending->is_told() || (spec_.elastic && is_ending)) exit.signal_sent = SIGKILL;
    end_rank(exit);
  }
}

// A host is gone: after an orderly end, or with its ranks.
void Fleet::on_over(RemoteHost& host) {
  const std::string why = host.link()->failure();
  const bool has_begun = hosted_ranks_.next() > 0 || options_.launcher->is_successor;
  if (has_begun && spec_.elastic && is_going_on()) return on_lost(host, why);
  host.on_disconnected(why, false);
  if (!has_begun) return on_unusable(host);
  const std::vector<int> lost = hosted_ranks_.at(host.number());
  if (lost.empty()) return;
  options_.publish("host lost", {{"host", host.name()}, {"why", why}});
  lose_ranks(host, lost);
}

void Fleet::on_unusable(const RemoteHost& host) {
  if (!is_going_on()) return;
  const std::string what = "host " + host.name() + " cannot take part";
  options_.ending->say(what + ": " + host.why());
  options_.ending->begin(what, kExitFailure);
}

// The workers on it may continue without the launcher for a while; they are not replaced meanwhile.
// If the host is given up, pump() still determines when they are certainly dead.
void Fleet::on_lost(RemoteHost& host, const std::string& why) {
  const bool is_new = !host.is_lost();
  const int wanted = listener_->wanted();
  const int left = wanted - distribute(wanted, ranks_.capacities())[host.number()];
  const std::string news = host.on_disconnected(why, true);
  if (!news.empty()) options_.ending->say(news);
  const std::vector<int> workers = hosted_ranks_.at(host.number());
  if (is_new) {
    options_.publish(
        "host lost",
        {{"host", host.name()}, {"why", why}, {"workers", static_cast<int>(workers.size())}});
  }
  for (const int worker : workers) hosted_ranks_.set_reachable(worker, false);
  for (const int worker : workers) listener_->on_unreachable(worker);
  if (!host.is_given_up()) return;
  const std::string end = "host " + host.name() + " was not reached again and is given up";
  options_.ending->say(end);
  options_.publish("host given up", {{"host", host.name()}, {"why", host.why()}});
  listener_->on_given_up(end, left);
}

}  // namespace trireme::cluster::launch::hosts
