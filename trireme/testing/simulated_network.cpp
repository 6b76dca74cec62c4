#include "trireme/testing/simulated_network.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "trireme/base/check.h"

namespace trireme::testing {
namespace {

// After this time a sender concludes that a packet was lost.
constexpr Duration kRetransmission = std::chrono::milliseconds(30);

}  // namespace

SimulatedNetwork::SimulatedNetwork(const Weather& weather)
    : weather_(weather), random_(weather.seed) {
  TRIREME_CHECK(weather.delay_min <= weather.delay_max, "delays are from min to max");
}

void SimulatedNetwork::attach(int node, Receive receive) {
  NodeState& state = nodes_[node];
  TRIREME_CHECK(state.life == 0, "node ", node, " is up already");
  state.receive = std::move(receive);
  state.life = ++state.starts;
}

void SimulatedNetwork::crash(int node) {
  NodeState& state = nodes_[node];
  state.life = 0;
  trace(0xdead0000u + static_cast<std::uint64_t>(node));
}

bool SimulatedNetwork::is_up(int node) const {
  const auto it = nodes_.find(node);
  return it != nodes_.end() && it->second.life != 0;
}

void SimulatedNetwork::send(int from, int to, Bytes message) {
  Duration needed = delay();
  while (random_.uniform_double() < weather_.lost) needed += kRetransmission;
  TimePoint& arrival = last_arrival_[{from, to}];
  arrival = std::max(arrival, clock_.now() + needed);
  const auto shared = std::make_shared<const Bytes>(std::move(message));
  schedule(to, 0, arrival - clock_.now(), [this, from, to, shared] { deliver(from, to, *shared); });
}

void SimulatedNetwork::after(int node, Duration delay, std::function<void()> action) {
  const std::uint64_t life = nodes_[node].life;
  TRIREME_CHECK(life != 0, "node ", node, " is down and sets no timers");
  schedule(node, life, skewed(node, delay), std::move(action));
}

// The clock rate of a node depends only on the seed and the node, and survives restarts.
Duration SimulatedNetwork::skewed(int node, Duration delay) const {
  if (weather_.skew == 1) return delay;
  constexpr std::uint64_t kSteps = 1000;
  Random random(weather_.seed, 0x5ca1e + static_cast<std::uint64_t>(node));
  const double where = 2.0 * static_cast<double>(random.below(kSteps + 1)) / kSteps - 1;
  return std::chrono::duration_cast<Duration>(delay * std::pow(weather_.skew, where));
}

void SimulatedNetwork::schedule(int node, std::uint64_t life, Duration delay,
                                std::function<void()> action) {
  events_.push({clock_.now() + delay, ++order_, node, life, std::move(action)});
}

void SimulatedNetwork::deliver(int from, int to, const Bytes& message) {
  NodeState& state = nodes_[to];
  if (state.life == 0) return;
  trace(static_cast<std::uint64_t>(clock_.now().time_since_epoch().count()));
  trace(static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint64_t>(to));
  for (std::byte byte : message) trace(std::to_integer<std::uint64_t>(byte));
  // A copy, because the handler may attach the node again.
  const Receive receive = state.receive;
  receive(from, message);
}

bool SimulatedNetwork::step() {
  if (events_.empty()) return false;
  Event event = events_.top();
  events_.pop();
  clock_.advance_to(event.when);
  if (event.life == 0 || nodes_[event.node].life == event.life) event.action();
  return true;
}

void SimulatedNetwork::run_until(TimePoint when) {
  while (!events_.empty() && events_.top().when <= when) step();
  clock_.advance_to(std::max(when, clock_.now()));
}

Duration SimulatedNetwork::delay() {
  const auto span = static_cast<double>((weather_.delay_max - weather_.delay_min).count());
  return weather_.delay_min + Duration(static_cast<Duration::rep>(span * random_.uniform_double()));
}

void SimulatedNetwork::trace(std::uint64_t value) {
  trace_ = (trace_ ^ value) * 0x100000001b3u;
}

}  // namespace trireme::testing
