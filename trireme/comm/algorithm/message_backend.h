// MessageBackend implements every collective, once, for ranks that exchange messages over any
// Messenger.
//
// An operation begins with a hello message to every other member. The hello contains the request
// and, for small operations, the data itself. Members use the hellos to compare their requests and
// to learn that another member is ready for larger messages. A large message is therefore never
// sent to a member that is not ready for it, and operations on several groups cannot deadlock,
// whatever their order.
//
// Bounds: a rank can be at most kAheadMax operations ahead of the other members of a group: the
//         next hello waits until the oldest operation is done on this rank. At least the same
//         number of tagged messages per pair of ranks may be unread. The receiver acknowledges
//         every kAckEvery of them, which lets the sender send more.
//
// Larger reductions use one of several algorithms (docs/collectives.md lists their cost). The
// backend chooses one by message size and world size; the caller can select one to compare them.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/comm/algorithm/messenger.h"
#include "trireme/comm/algorithm/partition.h"
#include "trireme/comm/backend.h"

namespace trireme::comm {

enum class Algorithm : std::uint8_t {
  Auto,
  Direct,             // each slice goes directly to its owner and back
  RecursiveDoubling,  // whole vectors between partners at distance 1, 2, 4, ...
  HalvingDoubling,    // recursive halving, then recursive doubling
  Ring,               // slices travel around a ring, twice
  Tree,               // pipelined up a binary tree and down again
};

std::string_view name_of(Algorithm algorithm) noexcept;
// Errors: throws InvalidInput, with a list of the valid names.
Algorithm algorithm_named(std::string_view name);

inline constexpr FaultPoint kMessageEntered{"message.entered"};
inline constexpr FaultPoint kMessageHalfway{"message.halfway"};

inline constexpr std::uint64_t kAheadMax = 64;
inline constexpr std::uint64_t kAckEvery = kAheadMax / 2;
// Messages read since the last acknowledgement still count as unread.
inline constexpr std::uint64_t kUnreadMax = kAheadMax + kAckEvery;

class MessageBackend final : public Backend {
 public:
  struct Options {
    std::string_view name = "tcp";
    Algorithm algorithm = Algorithm::Auto;
    Faults* faults = nullptr;
  };

  // `members[i]` is the rank number that the messenger uses for rank i of this group.
  MessageBackend(std::shared_ptr<Messenger> messenger, std::vector<int> members, int me,
                 std::uint64_t key, const Options& options);

  ~MessageBackend() override { give_up(); }

  BackendCapabilities capabilities() const noexcept override;
  Task run(const Operation& op) override;
  void give_up() noexcept override { messenger_->forget(key_); }
  Error stalled(const Operation& op, Duration waited) const override;
  std::optional<Error> failure() const override { return messenger_->announcement(key_); }
  std::optional<Error> loss() const override;
  void announce(const Error& error) noexcept override;
  // Exchanges only the hello: waits for every member and compares requests. Used for operations
  // whose data travels through another backend.
  Task greet(const Operation& op) { return collective(op, true); }
  std::shared_ptr<Backend> subgroup(std::span<const int> ranks, std::uint64_t key) override;

 private:
  struct Hellos;

  Task collective(const Operation& op, bool greets_only);
  void send_hellos(const Operation& op, bool has_data, Hellos& hellos);
  void receive_hellos(const Operation& op, Hellos& hellos);
  void combine_hellos(const Operation& op, const Hellos& hellos) const;
  std::string who_is_missing(const Operation& op, std::vector<int>& waiting,
                             std::optional<int>& first) const;
  Task exchange(const Operation& op, const Hellos& hellos);
  Task reduce_blocks(const Operation& op);
  Task send(const Operation& op);
  Task receive(const Operation& op);

  // all_reduce and reduce by an algorithm; see algorithm/*.cpp.
  Task reduce(const Operation& op);
  Task direct(const Operation& op);
  Task recursive_doubling(const Operation& op);
  Task halving_doubling(const Operation& op);
  Task ring(const Operation& op);
  Task tree(const Operation& op);

  Algorithm choose(const Operation& op) const;
  void check_requests(const Operation& op, const Hellos& hellos) const;
  int peer(int member) const noexcept { return members_[static_cast<std::size_t>(member)]; }
  MessageId id(const Operation& op, std::uint32_t channel) const noexcept {
    return {key_, op.sequence, channel};
  }

  std::shared_ptr<Messenger> messenger_;
  std::uint64_t key_;
  Options options_;
  // Operations in flight and, for each of them, which members have entered it.
  std::map<std::uint64_t, std::vector<bool>> entered_;
  // Tagged messages to and from one member.
  struct Line {
    std::uint64_t sent = 0;  // sequence numbers assigned
    std::uint64_t next = 0;  // the sequence number that may proceed next
    std::uint64_t allowed = kUnreadMax;
    std::uint64_t received = 0;
  };
  std::vector<Line> lines_;
};

// Larger messages are cut into chunks of this size. Operations of higher priority can run between
// two chunks, and a received chunk is still in the cache when it is combined.
inline constexpr std::size_t kChunkSize = std::size_t{512} << 10;

}  // namespace trireme::comm
