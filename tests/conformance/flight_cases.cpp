// Many operations in flight: more than any transport can start at once, waited for in any order,
// with different priorities.

#include <algorithm>
#include <thread>

#include "tests/conformance/buffer.h"
#include "trireme/base/random.h"

namespace trireme::comm::conformance {
namespace {

constexpr std::size_t kOperations = 40;

std::size_t count_of(std::size_t i) {
  constexpr std::size_t kCounts[] = {1, 5, 600, 4097, 70001};
  return kCounts[i % 5];
}

// One of several kinds of operations, selected by number: its memory, its start and its expected
// result.
struct Flight {
  Flight(const Group& group, std::size_t index, Place place)
      : number(static_cast<int>(index)),
        data(group, DType::Float32, count_of(index), place),
        out(group, DType::Float32, count_of(index) * static_cast<std::size_t>(group.size()),
            place) {
    data.write(Cycle::input(DType::Float32, number, group.rank()));
  }

  Work start(const Group& group, int priority) {
    const Call call{.label = "flight", .priority = priority};
    switch (number % 4) {
      case 0:
        return group.all_gather(out.span(), data.span(), call);
      case 1:
        return group.broadcast(data.span(), number % group.size(), call);
      default:
        return group.all_reduce(data.span(), ReduceOp::Sum, call);
    }
  }

  void expect(const Group& group, Report& report) const {
    const std::string what = "operation " + std::to_string(number) + " in flight";
    if (number % 4 == 0) {
      const auto count = data.span().count;
      for (int from = 0; from < group.size(); ++from) {
        const std::string difference =
            Cycle::input(DType::Float32, number, from)
                .difference(out.at(count * static_cast<std::size_t>(from)), 0, count);
        report.expect(difference.empty(), what + ": " + difference);
      }
    } else if (number % 4 == 1) {
      data.expect(Cycle::input(DType::Float32, number, number % group.size()), what, report);
    } else {
      data.expect(Cycle::result(DType::Float32, ReduceOp::Sum, number, group.size()), what, report);
    }
  }

  int number;
  Buffer data;
  Buffer out;
};

// Starts all operations, waits in the given order, and checks all results.
void fly(const Group& group, Place place, const std::vector<std::size_t>& order,
         bool has_priorities, Report& report) {
  std::vector<Flight> flights;
  std::vector<Work> works;
  for (std::size_t i = 0; i < order.size(); ++i) flights.emplace_back(group, i, place);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const int priority = has_priorities ? static_cast<int>(i * 7 % 5) - group.rank() % 2 : 0;
    works.push_back(flights[i].start(group, priority));
  }
  for (const std::size_t i : order) works[i].wait();
  for (const Flight& flight : flights) flight.expect(group, report);
}

std::vector<std::size_t> in_order() {
  std::vector<std::size_t> order(kOperations);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  return order;
}

void waited_in_order(const Group& group, Report& report) {
  for (const Place place : places(group)) fly(group, place, in_order(), false, report);
}

void waited_in_reverse(const Group& group, Report& report) {
  std::vector<std::size_t> order = in_order();
  std::reverse(order.begin(), order.end());
  for (const Place place : places(group)) fly(group, place, order, false, report);
}

void waited_in_another_order_on_each_rank(const Group& group, Report& report) {
  Random random(7, static_cast<std::uint64_t>(group.rank()));
  std::vector<std::size_t> order = in_order();
  for (const Place place : places(group)) {
    std::shuffle(order.begin(), order.end(), random);
    fly(group, place, order, true, report);
  }
}

// Polls instead of waiting.
void polled(const Group& group, Report& report) {
  std::vector<Flight> flights;
  std::vector<Work> works;
  for (std::size_t i = 0; i < kOperations; ++i) flights.emplace_back(group, i, Place::Mixed);
  for (Flight& flight : flights) works.push_back(flight.start(group, 0));
  const Deadline deadline = Deadline::after(std::chrono::seconds(30));
  while (!std::all_of(works.begin(), works.end(), [](Work& work) { return work.is_done(); })) {
    if (deadline.is_past()) throw Error(ErrorCode::Deadline, "polling makes no progress");
    std::this_thread::yield();
  }
  for (const Flight& flight : flights) flight.expect(group, report);
}

// A rank that enters late delays only its own operations.
void late_rank(const Group& group, Report& report) {
  for (int late = 0; late < std::min(group.size(), 2); ++late) {
    if (group.rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    fly(group, Place::Mixed, in_order(), true, report);
  }
}

constexpr Case kCases[] = {
    {"waited_in_order", waited_in_order},
    {"waited_in_reverse", waited_in_reverse},
    {"waited_in_another_order_on_each_rank", waited_in_another_order_on_each_rank},
    {"polled", polled},
    {"late_rank", late_rank}};

}  // namespace

std::span<const Case> flight_cases() {
  return kCases;
}

}  // namespace trireme::comm::conformance
