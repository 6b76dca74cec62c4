// Feed sends records to a collector without ever blocking the thread that reports them. It consists
// of a bounded queue and one sending thread.
//
//   monitor::Feed feed({.send = [&](std::span<const monitor::FeedLine> batch) { … }});
//   feed.report(monitor::Channel::Events, {{"event", "epoch done"}, {"epoch", 3}});
//
// Bounds:        at most `queue_max` reports are queued. When the queue is full, the oldest report
//                is dropped and counted; the next batch begins with an event that says how many
//                were dropped.
// Errors:        report() never throws and never waits. If `send` throws, the feed stops sending:
//                all queued and later reports are dropped and counted.
// Thread safety: any thread may report; `send` is called on the feed's own thread.
// Lifetime:      flush() waits until everything reported so far was sent; the destructor does the
//                same for at most `linger`.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "trireme/base/deadline.h"
#include "trireme/base/record.h"

namespace trireme::monitor {

enum class Channel : std::uint8_t { Events = 0, Metrics = 1 };

struct FeedLine {
  Channel channel = Channel::Events;
  std::string json;  // one line
};

class Feed {
 public:
  using Send = std::function<void(std::span<const FeedLine>)>;
  struct Options {
    Send send{};
    std::size_t queue_max = 4096;
    std::size_t batch_max = 256;
    std::chrono::milliseconds linger{200};
    Record always{};  // inserted after the time and before the fields of every report
  };

  explicit Feed(Options options);
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // Adds the wall-clock time as the first field.
  void report(Channel channel, const Record& record) noexcept;

  // Returns false if the deadline passes first or the feed has stopped sending.
  bool flush(Deadline deadline);

  std::uint64_t dropped() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::monitor
