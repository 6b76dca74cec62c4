// How groups end: a deadline, an abort from another thread, an announcement, an exception. All but
// the first end before the deadline of the operation; otherwise its error would be Deadline.

#include <atomic>
#include <optional>
#include <thread>

#include "tests/conformance/buffer.h"
#include "tests/conformance/failing.h"

namespace trireme::comm::conformance {
namespace {

using namespace std::chrono_literals;

// Every rank but the last enters; the error at the deadline names the last rank and the label.
void a_rank_that_never_comes(const Group& group, Report& report) {
  if (group.size() == 1) return;
  const int absent = group.size() - 1;
  constexpr Duration kTimeout = 60ms;
  for (const std::size_t count : {3u, 50000u}) {
    const Group sub = everybody(group);
    group.barrier().wait();
    if (group.rank() != absent) {
      Buffer data(group, DType::Float32, count, Place::Mixed);
      const TimePoint begun = steady_clock().now();
      const auto error = error_of([&] {
        const Call call{.label = "bucket 2", .deadline = Deadline::after(kTimeout)};
        sub.all_reduce(data.span(), ReduceOp::Sum, call).wait();
      });
      report.expect(steady_clock().now() - begun >= kTimeout, "ended before its deadline");
      expect_end(sub, error, ErrorCode::Deadline,
                 {"rank " + std::to_string(absent), "bucket 2", "never entered"},
                 "a rank that never comes", report);
    }
    group.barrier().wait();
  }
}

void a_message_that_never_comes(const Group& group, Report& report) {
  if (group.size() == 1) return;
  const Group sub = everybody(group);
  if (group.rank() == 1) {
    std::int32_t number = 0;
    const auto error = error_of([&] {
      const Call call{.label = "halo", .deadline = Deadline::after(20ms)};
      sub.receive({&number, 1, DType::Int32}, 0, 42, call).wait();
    });
    expect_end(sub, error, ErrorCode::Deadline, {"rank 0", "halo", "tag 42"},
               "a message that never comes", report);
  }
  group.barrier().wait();
}

// The last rank leaves after the first of two operations: the first is complete, the second fails
// at once. Over messages only the end of a connection reports a departure, which does not happen
// for a sub-group.
void a_rank_that_leaves(const Group& group, Report& report) {
  if (group.size() == 1 || !group.capabilities().shares_memory) return;
  const int leaver = group.size() - 1;
  for (const std::size_t count : {3u, 50000u}) {
    std::optional<Group> sub = everybody(group);
    Buffer data(group, DType::Float32, count, Place::Mixed);
    const Cycle mine = Cycle::input(DType::Float32, 1, group.rank());
    data.write(mine);
    sub->all_reduce(data.span(), ReduceOp::Sum).wait();
    data.expect(Cycle::result(DType::Float32, ReduceOp::Sum, 1, group.size()), "before a rank left",
                report);
    if (group.rank() == leaver) {
      sub.reset();
    } else {
      const auto error = error_of([&] { sub->all_reduce(data.span(), ReduceOp::Sum).wait(); });
      expect_end(*sub, error, ErrorCode::PeerLost, {"rank " + std::to_string(leaver), "left"},
                 "a rank that leaves", report);
    }
    group.barrier().wait();
  }
}

// Waits for an operation that cannot complete, until another thread aborts the group.
void expect_aborted(const Group& sub, const std::function<Work()>& start, Report& report) {
  std::atomic<bool> is_waiting{false};
  std::thread other([&] {
    while (!is_waiting) std::this_thread::yield();
    sub.abort(Error(ErrorCode::Aborted, "the epoch is over"));
  });
  const auto error = error_of([&] {
    Work work = start();
    is_waiting = true;
    work.wait();
  });
  is_waiting = true;
  other.join();
  expect_end(sub, error, ErrorCode::Aborted, {"the epoch is over"}, "an abort", report);
}

// One operation, and many at once, in ordinary memory and in place.
void abort_from_another_thread(const Group& group, Report& report) {
  if (group.size() == 1 || !group.capabilities().aborts) return;
  const int absent = group.size() - 1;
  struct Load {
    std::size_t count;
    int operations;
    Place place;
  };
  for (const Load& load : {Load{3, 1, Place::Ordinary}, Load{300000, 1, Place::Ordinary},
                           Load{3, 12, Place::Shared}, Load{300000, 12, Place::Shared}}) {
    const Group sub = everybody(group);
    group.barrier().wait();
    if (group.rank() != absent) {
      std::vector<Buffer> buffers;
      for (int i = 0; i < load.operations; ++i) {
        buffers.emplace_back(group, DType::Float32, load.count, load.place);
      }
      std::vector<Work> works;
      const auto start = [&] {
        for (const Buffer& buffer : buffers) {
          works.push_back(sub.all_reduce(buffer.span(), ReduceOp::Sum));
        }
        Work last = std::move(works.back());
        works.pop_back();
        return last;
      };
      expect_aborted(sub, start, report);
      for (Work& work : works) {
        report.expect(error_of([&] { work.wait(); }).has_value(), "an abort left work behind");
      }
    }
    group.barrier().wait();
  }
}

// Rank 0 fails by `fail`; the others wait for it and receive the reason.
void expect_told(const Group& group, const std::function<void(const Group&)>& fail,
                 const std::string& text, Report& report) {
  for (const std::size_t count : {3u, 200000u}) {
    const Group sub = everybody(group);
    Buffer data(group, DType::Float32, count, Place::Mixed);
    group.barrier().wait();
    if (group.rank() == 0) {
      fail(sub);
      report.expect(sub.error().has_value(), "the failed rank continued");
    } else {
      const auto error = error_of([&] { sub.all_reduce(data.span(), ReduceOp::Sum).wait(); });
      expect_end(sub, error, ErrorCode::RemoteFailure, {"rank 0", text}, text, report);
    }
    group.barrier().wait();
  }
}

void announcement(const Group& group, Report& report) {
  if (group.size() == 1) return;
  expect_told(
      group,
      [](const Group& sub) { sub.announce(Error(ErrorCode::Exhausted, "the disk is full")); },
      "the disk is full", report);
}

// A rank that waits in a sub-group for the announcing rank receives the announcement there.
void announcement_to_a_part(const Group& group, Report& report) {
  if (group.size() == 1) return;
  const Group sub = everybody(group);
  const Group part = sub.duplicate();
  group.barrier().wait();
  if (group.rank() == 0) {
    sub.announce(Error(ErrorCode::Exhausted, "the disk is full"));
    report.expect(part.error().has_value(), "a sub-group outlived its group");
  } else {
    std::int32_t number = 1;
    const auto error = error_of([&] {
      const Call call{.deadline = Deadline::after(10s)};
      part.all_reduce({&number, 1, DType::Int32}, ReduceOp::Sum, call).wait();
    });
    expect_end(part, error, ErrorCode::RemoteFailure, {"rank 0", "the disk is full"},
               "an announcement to a sub-group", report);
  }
  group.barrier().wait();
}

// A rank that waits for something else receives the announcement by calling look().
void announcement_that_is_looked_for(const Group& group, Report& report) {
  if (group.size() == 1) return;
  const Group sub = everybody(group);
  group.barrier().wait();
  if (group.rank() == 0) {
    sub.announce(Error(ErrorCode::Exhausted, "the disk is full"));
  } else {
    std::optional<Error> error;
    for (const Deadline end = Deadline::after(10s); !error && !end.is_past();) error = sub.look();
    expect_end(sub, error, ErrorCode::RemoteFailure, {"rank 0", "the disk is full"},
               "an announcement that is looked for", report);
  }
  group.barrier().wait();
}

void exception_in_user_code(const Group& group, Report& report) {
  if (group.size() == 1) return;
  expect_told(
      group,
      [](const Group& sub) {
        try {
          guarded(sub, [] { throw std::runtime_error("the loss is not a number"); });
        } catch (const std::runtime_error&) {
          // The exception is passed on to the caller.
        }
      },
      "the loss is not a number", report);
}

// A group that has ended rejects every operation with its error; other groups are not affected.
void nothing_after_the_end(const Group& group, Report& report) {
  if (group.size() == 1) return;
  const Group sub = everybody(group);
  sub.abort(Error(ErrorCode::Aborted, "over"));
  std::vector<float> data(static_cast<std::size_t>(group.size()), 1.0f), out = data;
  const Span all = span(data);
  const std::function<Work()> calls[] = {
      [&] { return sub.all_reduce(all, ReduceOp::Sum); },
      [&] { return sub.reduce(all, ReduceOp::Sum, 0); },
      [&] { return sub.reduce_scatter(span(out).part(0, 1), all, ReduceOp::Sum); },
      [&] { return sub.all_gather(span(out), all.part(0, 1)); },
      [&] { return sub.broadcast(all, 0); },
      [&] { return sub.all_to_all(span(out), all); },
      [&] { return sub.barrier(); },
      [&] { return sub.send(all, (sub.rank() + 1) % sub.size(), 1); },
      [&] { return sub.receive(all, (sub.rank() + 1) % sub.size(), 1); }};
  for (const auto& call : calls) {
    const auto error = error_of([&] { call().wait(); });
    report.expect(error && says(*error, "over"), "a group that has ended accepted a call");
  }
  group.all_reduce(all, ReduceOp::Sum).wait();
  report.expect(data[0] == static_cast<float>(group.size()), "another group was affected");
}

constexpr Case kCases[] = {{"a_rank_that_never_comes", a_rank_that_never_comes},
                           {"a_message_that_never_comes", a_message_that_never_comes},
                           {"a_rank_that_leaves", a_rank_that_leaves},
                           {"abort_from_another_thread", abort_from_another_thread},
                           {"announcement", announcement},
                           {"announcement_to_a_part", announcement_to_a_part},
                           {"announcement_that_is_looked_for", announcement_that_is_looked_for},
                           {"exception_in_user_code", exception_in_user_code},
                           {"nothing_after_the_end", nothing_after_the_end}};

}  // namespace

std::span<const Case> ending_cases() {
  return kCases;
}

}  // namespace trireme::comm::conformance
