#include "trireme/cluster/store/etcd/session.h"

#include <utility>

#include "trireme/base/error.h"

namespace trireme::cluster::etcd {
namespace {

using namespace std::chrono_literals;

constexpr Duration kPeriod = EtcdSession::kLeaseTime / 4;
// Long enough to ask a second member in time if the first one is frozen.
constexpr Duration kKeepTime = EtcdClient::kAttemptTime + 500ms;
constexpr Duration kRetryPause = 200ms;
constexpr Duration kRestoreTime = 1s;
constexpr Duration kRevokeTime = 1s;

}  // namespace

EtcdSession::EtcdSession(EtcdClient& client, std::string marker_root, Deadline deadline)
    : client_(client), writer_(client, std::move(marker_root)), lease_(grant(deadline)) {
  thread_ = std::thread([this] { run(); });
}

EtcdSession::~EtcdSession() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    changed_.notify_all();
  }
  thread_.join();
  try {
    client_.call(kRevokePath, lease_request(lease_), Deadline::after(kRevokeTime));
  } catch (const std::exception&) {
    // The lease expires by itself.
  }
}

std::uint64_t EtcdSession::grant(Deadline deadline) {
  // A lease that is created twice, because the first answer was lost, expires unused.
  return read_grant(client_.call(kGrantPath, grant_request(kLeaseTime.count()), deadline));
}

std::uint64_t EtcdSession::lease() const {
  const std::lock_guard lock(mutex_);
  return lease_;
}

int EtcdSession::losses() const {
  const std::lock_guard lock(mutex_);
  return losses_;
}

EtcdWriter::Outcome EtcdSession::write(Mutation mutation, Lifetime lifetime, Deadline deadline) {
  const bool is_ours = lifetime == Lifetime::Session && mutation.value.has_value();
  const bool is_claim = mutation.if_revision.has_value();
  if (!is_ours && !is_claim) let_go(mutation.key);
  for (;;) {
    const std::uint64_t lease = this->lease();
    mutation.lease = is_ours ? lease : 0;
    const EtcdWriter::Outcome outcome = writer_.write(mutation, lease, deadline);
    if (outcome.is_lease_over) {
      renew(lease, deadline);
      if (!outcome.is_in_doubt) continue;
      throw Error(ErrorCode::PeerLost,
                  "the session in etcd expired during a change, which may not have been applied");
    }
    if (!outcome.is_made) return outcome;
    if (mutation.keeps_lease) {
      note_value(mutation);
    } else if (is_ours) {
      hold(mutation, lease);
    } else {
      let_go(mutation.key);
    }
    return outcome;
  }
}

// add() changes the value of a key but not its owner.
void EtcdSession::note_value(const Mutation& mutation) {
  const std::lock_guard holding(holding_);
  if (const auto found = held_.find(mutation.key); found != held_.end()) {
    found->second.value = *mutation.value;
  }
}

void EtcdSession::hold(const Mutation& mutation, std::uint64_t lease) {
  const std::lock_guard holding(holding_);
  held_.insert_or_assign(
      mutation.key, Held{.value = *mutation.value, .is_claimed = mutation.if_revision.has_value()});
  // It was written with a lease that has been replaced meanwhile.
  if (lease != this->lease()) missing_.insert(mutation.key);
}

void EtcdSession::let_go(const std::string& key) {
  const std::lock_guard holding(holding_);
  held_.erase(key);
  missing_.erase(key);
}

// One thread renews the lease, the others wait for it.
void EtcdSession::renew(std::uint64_t lost, Deadline deadline) {
  const std::lock_guard renewing(renewing_);
  if (lease() != lost) return;
  const std::uint64_t fresh = grant(deadline);
  // Keys that the old lease still holds would prevent them from being restored.
  client_.ask(kRevokePath, lease_request(lost), deadline);
  const std::lock_guard holding(holding_);
  for (const auto& [key, held] : held_) missing_.insert(key);
  const std::lock_guard lock(mutex_);
  lease_ = fresh;
  ++losses_;
  is_renewed_ = true;
  changed_.notify_all();
}

void EtcdSession::restore(Deadline deadline) {
  for (;;) {
    const std::lock_guard holding(holding_);
    if (missing_.empty()) return;
    const std::string key = *missing_.begin();
    const auto found = held_.find(key);
    if (found == held_.end()) {
      missing_.erase(key);
      continue;
    }
    const std::uint64_t lease = this->lease();
    Mutation mutation{.key = key, .value = found->second.value, .lease = lease};
    if (found->second.is_claimed) mutation.if_revision = 0;
    const EtcdWriter::Outcome outcome = writer_.write(mutation, lease, deadline);
    if (outcome.is_lease_over) return;
    missing_.erase(key);
    if (!outcome.is_made) held_.erase(found);
  }
}

void EtcdSession::keep_alive() {
  const std::uint64_t lease = this->lease();
  const std::string answer =
      client_.call(kKeepAlivePath, lease_request(lease), Deadline::after(kKeepTime));
  if (read_keep_alive(answer) == 0) renew(lease, Deadline::after(kKeepTime));
  restore(Deadline::after(kRestoreTime));
}

void EtcdSession::run() {
  std::unique_lock lock(mutex_);
  Duration pause = kPeriod;
  while (!is_ending_) {
    changed_.wait_for(lock, pause, [this] { return is_ending_ || is_renewed_; });
    if (is_ending_) return;
    is_renewed_ = false;
    lock.unlock();
    try {
      keep_alive();
      pause = kPeriod;
    } catch (const std::exception&) {
      // The next call reports the error.
      pause = kRetryPause;
    }
    lock.lock();
  }
}

}  // namespace trireme::cluster::etcd
