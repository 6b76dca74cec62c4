#include "trireme/cluster/launch/hosts/remote_host.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::cluster::launch::hosts {
namespace {

// Time in which the agent of a lost host notices the loss and kills its ranks.
constexpr Duration kNoticeTime = kSilenceMax + std::chrono::seconds(10);

}  // namespace

void Retry::on_lost(TimePoint now) noexcept {
  if (is_up_ && now - up_ >= kSteady) tries_ = 0;
  is_up_ = false;
  Duration pause = kFirst;
  for (int i = 0; i < tries_ && pause < kLast; ++i) pause *= 2;
  ++tries_;
  next_ = is_given_up() ? TimePoint::max() : now + std::min(pause, kLast);
}

void RemoteHost::connect() {
  retry_.on_tried();
  auto link = std::make_unique<HostLink>(options_, listener_);
  link->start();
  link_ = std::move(link);
}

std::string RemoteHost::on_disconnected(const std::string& why, bool is_retried) {
  is_up_ = false;
  if (!is_retried) {
    why_ = why;
    return {};
  }
  retry_.on_lost(steady_clock().now());
  if (!std::exchange(is_lost_, true)) {
    why_ = why;
    retry_failure_.clear();
    dead_by_ = Deadline::after(options_.order.orphan_timeout + kNoticeTime);
    return "host " + name() + " was lost: " + why + "; trying to reach it again";
  }
  const bool is_news = std::exchange(retry_failure_, why) != why;
  return is_news ? "host " + name() + " is not back yet: " + why : "";
}

bool RemoteHost::on_up(TimePoint now) {
  is_up_ = true;
  forget_dead();
  retry_.on_up(now);
  return std::exchange(is_lost_, false);
}

void RemoteHost::end() {
  if (!is_running()) return;
  if (is_up_) return link_->end();
  link_->cut("the job ended");
}

}  // namespace trireme::cluster::launch::hosts
