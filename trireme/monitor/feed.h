// Feed carries records from where they happen to whoever collects them, without ever making the
// one who reports wait: a bounded queue and one sending thread.
//
//   monitor::Feed feed({.send = [&](std::span<const monitor::Report> batch) { … }});
//   feed.report(monitor::Channel::Events, {{"event", "epoch done"}, {"epoch", 3}});
//
// Bounds:   at most `queue_max` reports wait. One more pushes the oldest out, which is counted;
//           the next batch begins with an event that says how many were dropped.
// Failure:  report() never throws and never waits. When `send` throws, the feed is over: what
//           waits and what follows is dropped and counted.
// Threads:  any thread reports; `send` is called on the feed's own thread.
// Lifetime: flush() waits until everything reported so far was sent; the destructor tries that
//           for `linger` at most.

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

struct Report {
  Channel channel = Channel::Events;
  std::string json;  // one line
};

class Feed {
 public:
  using Send = std::function<void(std::span<const Report>)>;
  struct Options {
    Send send{};
    std::size_t queue_max = 4096;
    std::size_t batch_max = 256;
    std::chrono::milliseconds linger{200};
    Record always{};  // put before the fields of every report, after its time
  };

  explicit Feed(Options options);
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  // Adds the wall clock's time as the first field.
  void report(Channel channel, const Record& record) noexcept;

  // False when the deadline came first or the feed is over.
  bool flush(Deadline deadline);

  std::uint64_t dropped() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::monitor
