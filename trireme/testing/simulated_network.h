// SimulatedNetwork carries messages between nodes of a made-up world, badly: it loses, delays,
// doubles and reorders them, and nodes crash and come back. Everything it does follows from its
// seed, so a run that failed can be run again, step by step.
//
//   SimulatedNetwork network({.seed = seed, .lost = 0.1, .doubled = 0.1});
//   network.attach(0, [&](int from, ByteView message) { ... });
//   network.send(1, 0, message);
//   while (network.step()) {}
//
// Crash:   a crashed node receives nothing and its timers never fire, not even after a restart;
//          what it had sent may still arrive.
// Threads: one. Handlers run inside step(), and may send, set timers, crash and restart.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <vector>

#include "trireme/base/bytes.h"
#include "trireme/base/random.h"
#include "trireme/testing/simulated_clock.h"

namespace trireme::testing {

struct Weather {
  std::uint64_t seed = 0;
  double lost = 0.0;     // share of messages that never arrive
  double doubled = 0.0;  // share that arrives twice
  Duration delay_min = std::chrono::microseconds(100);
  Duration delay_max = std::chrono::milliseconds(10);  // the wider, the more is reordered
  double skew = 1.0;  // how many times too fast or too slow a node's clock may be
};

class SimulatedNetwork {
 public:
  using Receive = std::function<void(int from, ByteView message)>;

  struct Counters {
    std::uint64_t sent = 0;
    std::uint64_t lost = 0;
    std::uint64_t doubled = 0;
    std::uint64_t delivered = 0;
    std::uint64_t reordered = 0;  // arrived after a message that the same node sent later
  };

  explicit SimulatedNetwork(const Weather& weather);

  // A node that is up. Again after a crash: the node is back, as a new process.
  void attach(int node, Receive receive);
  void crash(int node);
  bool is_up(int node) const;

  void send(int from, int to, Bytes message);
  // Runs `action` on this node after `delay` by its own clock, unless the node crashes first.
  void after(int node, Duration delay, std::function<void()> action);

  // Does what comes next. False when nothing is left to do.
  bool step();
  // Does everything up to this moment; then it is that moment.
  void run_until(TimePoint when);

  const SimulatedClock& clock() const noexcept { return clock_; }
  // For a scenario's own choices, which thereby belong to the seed.
  Random& random() noexcept { return random_; }
  const Counters& counters() const noexcept { return counters_; }
  // Of everything that was delivered and when: equal seeds have equal hashes.
  std::uint64_t trace_hash() const noexcept { return trace_; }

 private:
  struct Event {
    TimePoint when;
    std::uint64_t order = 0;  // ties are broken by who came first
    int node = 0;
    std::uint64_t life = 0;  // the node's life that it is meant for; 0: any
    std::function<void()> action;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.when != b.when ? a.when > b.when : a.order > b.order;
    }
  };
  struct NodeState {
    Receive receive;
    std::uint64_t life = 0;  // counts starts; 0 while down
    std::uint64_t starts = 0;
    std::map<int, std::uint64_t> newest_from;
  };

  void schedule(int node, std::uint64_t life, Duration delay, std::function<void()> action);
  void deliver(int from, int to, std::uint64_t number, const Bytes& message);
  Duration delay();
  Duration skewed(int node, Duration delay) const;
  void trace(std::uint64_t value);

  const Weather weather_;
  SimulatedClock clock_;
  Random random_;
  std::map<int, NodeState> nodes_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::uint64_t order_ = 0;
  std::uint64_t messages_ = 0;
  Counters counters_;
  std::uint64_t trace_ = 0xcbf29ce484222325u;
};

}  // namespace trireme::testing
