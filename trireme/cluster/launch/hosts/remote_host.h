// RemoteHost is one host of a job on several, as the job's launcher has it: the link to its agent,
// and how a lost one is reached again.
//
// States:        connecting; up, once the agent has reported which ranks are alive there; lost,
// once
//                an elastic job's connection ended. A lost host is tried again (Retry) until it
//                is up or given up. Its ranks are certainly dead after orphan_timeout plus the time
//                in which the agent notices the loss.
// Errors:        connect() throws what creating a link throws.
// Thread safety: only the launcher's thread.

#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"
#include "trireme/cluster/launch/hosts/link.h"

namespace trireme::cluster::launch::hosts {

// When a lost host is tried again: after a pause that doubles from kFirst to kLast, and at most
// kTriesMax times in a row. A connection that lasted for kSteady resets the count. The caller
// passes the time.
class Retry {
 public:
  static constexpr Duration kFirst = std::chrono::milliseconds(500);
  static constexpr Duration kLast = std::chrono::seconds(30);
  static constexpr Duration kSteady = std::chrono::minutes(1);
  static constexpr int kTriesMax = 40;  // takes a little over a quarter of an hour

  void on_up(TimePoint now) noexcept {
    up_ = now;
    is_up_ = true;
  }
  // The connection was lost, or could not be established.
  void on_lost(TimePoint now) noexcept;
  // A connection attempt has started.
  void on_tried() noexcept { next_ = TimePoint::max(); }

  Deadline next() const noexcept { return Deadline::at(next_); }
  bool is_given_up() const noexcept { return tries_ > kTriesMax; }

 private:
  int tries_ = 0;  // in a row
  bool is_up_ = false;
  TimePoint up_{};
  TimePoint next_ = TimePoint::max();
};

class RemoteHost {
 public:
  // The listener must outlive it.
  RemoteHost(HostLink::Options options, HostLink::Listener& listener)
      : options_(std::move(options)), listener_(listener) {}

  void connect();
  // The connection is over. `is_retried`: it counts as lost from now on. Returns what is new about
  // that for the user, or "".
  std::string on_disconnected(const std::string& why, bool is_retried);
  // The agent has reported its ranks. True: the host had been lost.
  bool on_up(TimePoint now);
  // Ends the agent, or a connection that has not reached one.
  void end();

  const std::string& name() const noexcept { return options_.host; }
  std::size_t number() const noexcept { return static_cast<std::size_t>(options_.order.host); }
  int ranks() const noexcept { return options_.order.ranks; }
  // Null: there is none until the next try.
  HostLink* link() const noexcept { return link_.get(); }
  bool is_running() const { return link_ && !link_->is_over(); }
  bool is_up() const noexcept { return is_up_; }
  bool is_lost() const noexcept { return is_lost_; }
  bool is_given_up() const noexcept { return retry_.is_given_up(); }
  // Why the connection ended.
  const std::string& why() const noexcept { return why_; }

  // When a lost host is due to be connected to again.
  Deadline retry() const { return retry_.next(); }
  // When the ranks of a lost host are certainly dead.
  Deadline dead_by() const { return dead_by_; }
  void forget_dead() { dead_by_ = Deadline::never(); }

 private:
  HostLink::Options options_;
  HostLink::Listener& listener_;
  std::unique_ptr<HostLink> link_;
  Retry retry_;
  bool is_up_ = false;
  bool is_lost_ = false;
  std::string why_;
  std::string retry_failure_;  // why the last try to reach a lost host failed
  Deadline dead_by_ = Deadline::never();
};

}  // namespace trireme::cluster::launch::hosts
