#include "trireme/cluster/liveness/heartbeat.h"

#include <algorithm>

#include "trireme/base/check.h"

namespace trireme::cluster {
namespace {

constexpr int kLookersEach = 2;

}  // namespace

HeartbeatLedger::HeartbeatLedger(const HeartbeatConfig& config) : config_(config) {
  TRIREME_CHECK(config.interval.count() > 0 && config.interval < config.timeout,
                "heartbeats every ", config.interval.count(), " ms with a timeout of ",
                config.timeout.count(), " ms");
}

void HeartbeatLedger::look(int rank, std::optional<std::uint64_t> count, TimePoint now) {
  const auto [it, is_new] = accounts_.try_emplace(rank, Account{count, now, {}});
  if (is_new) return;
  Account& account = it->second;
  if (account.count != count) {
    account = {count, now, {}};
    return;
  }
  // A check that is a little late is normal; a longer gap means that this rank itself was paused.
  account.silence += std::min<Duration>(now - account.looked, 2 * config_.interval);
  account.looked = now;
}

std::vector<HeartbeatLedger::Late> HeartbeatLedger::late() const {
  std::vector<Late> late;
  for (const auto& [rank, account] : accounts_) {
    if (account.silence >= config_.timeout) late.push_back({rank, account.silence});
  }
  return late;
}

std::vector<int> heartbeat_duties(const Roster& roster, int self,
                                  const std::function<bool(int)>& is_proven,
                                  const std::function<bool(int)>& is_over) {
  std::vector<int> duties;
  const int size = roster.size();
  for (int rank = 0; rank < size; ++rank) {
    if (rank == self || is_over(rank) || is_proven(rank)) continue;
    // A rank on this host whose memory could not be mapped: the other ranks may not know that, so
    // this rank checks it.
    if (roster.host_of(rank) == roster.host_of(self)) {
      duties.push_back(rank);
      continue;
    }
    int lookers = 0;
    for (int step = 1; step < size && lookers < kLookersEach; ++step) {
      const int other = (rank + step) % size;
      if (is_over(other) || roster.host_of(other) == roster.host_of(rank)) continue;
      ++lookers;
      if (other == self) duties.push_back(rank);
    }
  }
  return duties;
}

}  // namespace trireme::cluster
