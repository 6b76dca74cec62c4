// SimulatedNetwork delivers messages between simulated nodes as TCP connections do: those from one
// node to another arrive once and in order, after delays, and nodes crash and restart. The seed
// determines everything it does, so a failed run can be replayed step by step.
//
//   SimulatedNetwork network({.seed = seed, .lost = 0.1});
//   network.attach(0, [&](int from, ByteView message) { ... });
//   network.send(1, 0, message);
//   while (network.step()) {}
//
// Crash:         a crashed node receives nothing and its timers never fire, not even after a
//                restart; messages that it sent before may still arrive.
// Thread safety: one thread. Handlers run inside step() and may send, set timers, crash and
//                restart.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "trireme/base/bytes.h"
#include "trireme/base/random.h"
#include "trireme/testing/simulated_clock.h"

namespace trireme::testing {

struct Weather {
  std::uint64_t seed = 0;
  double lost = 0.0;  // fraction of packets that are lost; the message is then sent again
  Duration delay_min = std::chrono::microseconds(100);
  Duration delay_max = std::chrono::milliseconds(10);
  double skew = 1.0;  // the maximum factor by which a node's clock runs too fast or too slow
};

class SimulatedNetwork {
 public:
  using Receive = std::function<void(int from, ByteView message)>;

  explicit SimulatedNetwork(const Weather& weather);

  // Starts a node. After a crash, calling it again restarts the node as a new process.
  void attach(int node, Receive receive);
  void crash(int node);
  bool is_up(int node) const;

  void send(int from, int to, Bytes message);
  // Runs `action` on this node after `delay` by its own clock, unless the node crashes first.
  void after(int node, Duration delay, std::function<void()> action);

  // Handles the next event. Returns false if there is none.
  bool step();
  // Handles all events up to this time, and then sets the clock to it.
  void run_until(TimePoint when);

  const SimulatedClock& clock() const noexcept { return clock_; }
  // For random choices of the scenario, so that the seed determines them too.
  Random& random() noexcept { return random_; }
  // A hash over all deliveries and their times: equal seeds give equal hashes.
  std::uint64_t trace_hash() const noexcept { return trace_; }

 private:
  struct Event {
    TimePoint when;
    std::uint64_t order = 0;  // breaks ties: first scheduled, first run
    int node = 0;
    std::uint64_t life = 0;  // the life of the node for which the event is meant; 0 means any
    std::function<void()> action;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.when != b.when ? a.when > b.when : a.order > b.order;
    }
  };
  struct NodeState {
    Receive receive;
    std::uint64_t life = 0;  // the number of the current life; 0 while down
    std::uint64_t starts = 0;
  };

  void schedule(int node, std::uint64_t life, Duration delay, std::function<void()> action);
  void deliver(int from, int to, const Bytes& message);
  Duration delay();
  Duration skewed(int node, Duration delay) const;
  void trace(std::uint64_t value);

  const Weather weather_;
  SimulatedClock clock_;
  Random random_;
  std::map<int, NodeState> nodes_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::uint64_t order_ = 0;
  // When the last message from one node to another arrives.
  std::map<std::pair<int, int>, TimePoint> last_arrival_;
  std::uint64_t trace_ = 0xcbf29ce484222325u;
};

}  // namespace trireme::testing
