// Goal:   several spans are reduced in one operation, and each receives its own part of the result.
// Method: a backend that multiplies its input by ten, with spans of 0, 1, 3 and more elements;
//         checks order and positions.

#include "trireme/comm/algorithm/packed_reduce.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/comm/fake_backend.h"

namespace trireme::comm {
namespace {

TEST(PackedReduce, PacksReducesOnceAndUnpacks) {
  FakeBackend backend;
  int runs = 0;
  std::vector<std::int32_t> seen;
  backend.on_run = [&](const Operation& op) -> Task {
    ++runs;
    const auto* values = reinterpret_cast<const std::int32_t*>(op.input);
    seen.assign(values, values + op.request.count);
    auto* out = reinterpret_cast<std::int32_t*>(op.output);
    for (std::size_t i = 0; i < op.request.count; ++i) out[i] = 10 * values[i];
    co_return;
  };
  std::vector<std::int32_t> a{1, 2, 3}, none, b{4}, c{5, 6, 7, 8, 9};
  Operation op;
  op.request = {.kind = OpKind::AllReduce, .type = DType::Int32, .count = 9};
  Task task = packed_reduce(backend, op, {span(a), span(none), span(b), span(c)});
  while (task.step() != Task::Step::Done) {
  }
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(seen, (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(a, (std::vector<std::int32_t>{10, 20, 30}));
  EXPECT_EQ(b, (std::vector<std::int32_t>{40}));
  EXPECT_EQ(c, (std::vector<std::int32_t>{50, 60, 70, 80, 90}));
}

TEST(PackedReduce, AFailedReductionChangesNoSpan) {
  FakeBackend backend;
  backend.on_run = [](const Operation& op) -> Task {
    op.output[0] = std::byte{77};
    throw Error(ErrorCode::PeerLost, "gone");
    co_return;
  };
  std::vector<std::int8_t> a{1, 2};
  Operation op;
  op.request = {.kind = OpKind::AllReduce, .type = DType::Int8, .count = 2};
  Task task = packed_reduce(backend, op, {span(a)});
  EXPECT_THROW(task.step(), Error);
  EXPECT_EQ(a, (std::vector<std::int8_t>{1, 2}));
}

TEST(PackedReduce, LongCopiesYieldBetweenStrides) {
  FakeBackend backend;
  backend.on_run = [](const Operation&) -> Task { co_return; };
  std::vector<std::int8_t> a(5 * kStrideSize), b(3 * kStrideSize + 1);
  Operation op;
  op.request = {.kind = OpKind::AllReduce, .type = DType::Int8, .count = a.size() + b.size()};
  Task task = packed_reduce(backend, op, {span(a), span(b)});
  int steps = 1;
  while (task.step() != Task::Step::Done) ++steps;
  EXPECT_EQ(steps, 2 * (4 + 3) + 1) << "the task yields between strides of both copies";
}

}  // namespace
}  // namespace trireme::comm
