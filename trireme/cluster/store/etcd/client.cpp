#include "trireme/cluster/store/etcd/client.h"

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/cluster/store/etcd/message.h"

namespace trireme::cluster::etcd {
namespace {

using namespace std::chrono_literals;

constexpr Duration kPauseFirst = 5ms;
constexpr Duration kPauseLast = 100ms;
// With this header, a member that has lost its leader reports that and ends its streams.
constexpr std::string_view kNeedsLeader = "Grpc-Metadata-hasleader: true\r\n";

std::string seconds_text(Duration duration) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g s", std::chrono::duration<double>(duration).count());
  return text;
}

// The errors of an attempt when a member dies, freezes or is not running.
bool is_members_fault(ErrorCode code) {
  return code == ErrorCode::Unreachable || code == ErrorCode::Deadline ||
         code == ErrorCode::PeerLost || code == ErrorCode::Protocol;
}

}  // namespace

// The attempts of one call, from member to member.
class EtcdClient::Attempts {
 public:
  Attempts(EtcdClient& client, Deadline deadline) : client_(client), deadline_(deadline) {}

  // REQUIRES: fail() was called after every call but the first.
  Deadline turn() const {
    if (deadline_.is_past()) {
      throw Error(ErrorCode::Deadline, "etcd did not answer in time").with_cause(why_);
    }
    return min(deadline_, Deadline::after(kAttemptTime));
  }

  bool is_sent() const noexcept { return is_sent_; }
  void note_sent() noexcept { is_sent_ = true; }

  // Throws once `patience` has run out; otherwise pauses if all members were tried.
  void fail(const Error& error, std::size_t member) {
    why_ = client_.options_.members[member].to_text() + ": " + error.message();
    // The caller's deadline passed; this is not the member's fault.
    if (deadline_.is_past()) return;
    client_.leave(member);
    Duration gone{};
    {
      const std::lock_guard lock(client_.mutex_);
      const TimePoint now = steady_clock().now();
      if (!client_.gone_) client_.gone_ = now;
      gone = now - *client_.gone_;
    }
    if (gone >= client_.options_.patience) {
      throw Error(ErrorCode::PeerLost, "etcd has been gone for " + seconds_text(gone))
          .with_cause(why_);
    }
    if (++count_ % client_.options_.members.size() != 0) return;
    std::this_thread::sleep_for(std::min(pause_, deadline_.remaining()));
    pause_ = std::min(2 * pause_, kPauseLast);
  }

 private:
  EtcdClient& client_;
  const Deadline deadline_;
  std::string why_;
  std::size_t count_ = 0;
  bool is_sent_ = false;
  Duration pause_ = kPauseFirst;
};

EtcdClient::EtcdClient(Options options) : options_(std::move(options)) {
  TRIREME_CHECK(!options_.members.empty(), "an etcd without members");
}

EtcdClient::Answer EtcdClient::ask(std::string_view path, const std::string& body,
                                   Deadline deadline) {
  Attempts attempts(*this, deadline);
  for (bool is_repeated = false;;) {
    const Deadline turn = attempts.turn();
    auto [connection, member] = take();
    std::optional<Error> failure;
    try {
      if (!connection) connection = dial(member, turn);
      is_repeated |= attempts.is_sent();
      attempts.note_sent();
      net::HttpConnection::Reply reply =
          connection->post({.path = path, .body = body, .fields = kNeedsLeader}, turn);
      give_back(std::move(connection), member);
      Answer answer{.text = {}, .refusal = {}, .is_repeated = is_repeated};
      if (reply.status == 200) {
        note_answer();
        answer.text = std::move(reply.body);
        return answer;
      }
      const EtcdRefusal refusal = read_refusal(reply.status, reply.body);
      if (!refusal.is_passing) {
        note_answer();
        answer.refusal = refusal.error;
        return answer;
      }
      failure = refusal.error;
    } catch (const Error& error) {
      if (!is_members_fault(error.code())) throw;
      failure = error;
    }
    attempts.fail(*failure, member);
  }
}

std::string EtcdClient::call(std::string_view path, const std::string& body, Deadline deadline) {
  Answer answer = ask(path, body, deadline);
  if (answer.refusal) throw *answer.refusal;
  return std::move(answer.text);
}

EtcdClient::Connection EtcdClient::open(std::string_view path, const std::string& body,
                                        Deadline deadline) {
  Attempts attempts(*this, deadline);
  for (;;) {
    const Deadline turn = attempts.turn();
    const std::size_t member = this->member();
    std::optional<EtcdRefusal> failure;
    try {
      Connection connection = dial(member, turn);
      const int status =
          connection->start({.path = path, .body = body, .fields = kNeedsLeader}, turn);
      if (status == 200) {
        note_answer();
        return connection;
      }
      failure = read_refusal(status, connection->read(turn));
    } catch (const Error& error) {
      failure = EtcdRefusal{.error = error, .is_passing = is_members_fault(error.code())};
    }
    if (!failure->is_passing) throw failure->error;
    attempts.fail(failure->error, member);
  }
}

EtcdClient::Connection EtcdClient::dial(std::size_t member, Deadline deadline) const {
  return std::make_unique<net::HttpConnection>(options_.members[member], deadline);
}

// Returns an open connection, if there is one, and the member that it belongs or would belong to.
std::pair<EtcdClient::Connection, std::size_t> EtcdClient::take() {
  const std::lock_guard lock(mutex_);
  while (!idle_.empty()) {
    Connection connection = std::move(idle_.back());
    idle_.pop_back();
    if (connection->can_go_on()) return {std::move(connection), member_};
  }
  return {nullptr, member_};
}

void EtcdClient::give_back(Connection connection, std::size_t member) {
  if (!connection->can_go_on()) return;
  const std::lock_guard lock(mutex_);
  if (member == member_ && idle_.size() < kIdleMax) idle_.push_back(std::move(connection));
}

std::size_t EtcdClient::member() const {
  const std::lock_guard lock(mutex_);
  return member_;
}

void EtcdClient::note_answer() {
  const std::lock_guard lock(mutex_);
  gone_.reset();
}

// Another thread may have switched to the next member already.
void EtcdClient::leave(std::size_t member) {
  const std::lock_guard lock(mutex_);
  if (member != member_) return;
  member_ = (member_ + 1) % options_.members.size();
  idle_.clear();
}

}  // namespace trireme::cluster::etcd
