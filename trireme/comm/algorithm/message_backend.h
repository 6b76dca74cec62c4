// The backend of ranks that exchange messages: every collective, once, over any Messenger.
//
// An operation opens with a hello to every other member: the request, and the data itself where
// it is small. Hellos are how members compare requests, and how a member knows that another is
// ready for larger messages; so nothing large ever arrives unasked and no order of operations on
// several groups can block.
//
// Bounds: a rank is at most kAheadMax operations of a group ahead of the others: the next hello
// waits until the oldest is done here. Of tagged messages at least so many of a pair may wait
// unread, too; the receiver's acknowledgements, one for every kAckEvery of them, let further ones
// go.
//
// Larger reductions use one of several algorithms (docs/collectives.md has their cost), chosen by
// size and world, or by the caller to compare them.

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
  Direct,             // every slice goes straight to its owner and back
  RecursiveDoubling,  // whole vectors between partners at distance 1, 2, 4, ...
  HalvingDoubling,    // halves of vectors, then back
  Ring,               // slices around a circle, twice
  Tree,               // pipelined up a binary tree and down again
};

std::string_view name_of(Algorithm algorithm) noexcept;
// Throws InvalidInput and lists the names.
Algorithm algorithm_named(std::string_view name);

inline constexpr FaultPoint kMessageEntered{"message.entered"};
inline constexpr FaultPoint kMessageHalfway{"message.halfway"};

inline constexpr std::uint64_t kAheadMax = 64;
inline constexpr std::uint64_t kAckEvery = kAheadMax / 2;
// What was read since the last acknowledgement still counts as unread.
inline constexpr std::uint64_t kUnreadMax = kAheadMax + kAckEvery;

class MessageBackend final : public Backend {
 public:
  struct Options {
    std::string_view name = "tcp";
    Algorithm algorithm = Algorithm::Auto;
    Faults* faults = nullptr;
  };

  // `members[i]` is the messenger's number of rank i of this group.
  MessageBackend(std::shared_ptr<Messenger> messenger, std::vector<int> members, int me,
                 std::uint64_t key, const Options& options);

  ~MessageBackend() override { give_up(); }

  int rank() const noexcept override { return me_; }
  int size() const noexcept override { return static_cast<int>(members_.size()); }
  Capabilities capabilities() const noexcept override;
  Task run(const Operation& op) override;
  void give_up() noexcept override { messenger_->forget(key_); }
  Error stalled(const Operation& op, Duration waited) const override;
  std::optional<Error> failure() const override { return messenger_->announcement(key_); }
  std::optional<Error> loss() const override;
  void announce(const Error& error) noexcept override;
  // Only the hello: waits for every member and compares requests. For operations whose data goes
  // another way.
  Task greet(const Operation& op);
  std::vector<int> job_ranks() const override { return members_; }
  std::shared_ptr<Backend> subgroup(std::span<const int> ranks, std::uint64_t key) override;

 private:
  struct Hellos;

  Task collective(const Operation& op, bool greets_only);
  std::string who_is_missing(const Operation& op, std::vector<int>& waiting) const;
  Task exchange(const Operation& op, const Hellos& hellos);
  Task reduce_blocks(const Operation& op);
  Task send(const Operation& op);
  Task receive(const Operation& op);

  // all_reduce and reduce; see algorithm/*.cpp.
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
  std::vector<int> members_;
  int me_;
  std::uint64_t key_;
  Options options_;
  // The operations in flight, and which members have entered them.
  std::map<std::uint64_t, std::vector<bool>> entered_;
  // Tagged messages to and from one member.
  struct Line {
    std::uint64_t sent = 0;  // numbers given out
    std::uint64_t next = 0;  // whose turn it is
    std::uint64_t allowed = kUnreadMax;
    std::uint64_t received = 0;
  };
  std::vector<Line> lines_;
};

// Messages larger than this are cut, so that operations of higher priority can get between and
// what was just received is still in the cache when it is combined.
inline constexpr std::size_t kChunkSize = std::size_t{512} << 10;

}  // namespace trireme::comm
