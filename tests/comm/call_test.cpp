// Goal:   by default an operation has no label, priority 0 and the group's own timeout; values that
//         the caller sets reach the operation.
// Method: the defaults, and a group of two threads in which the other rank never enters, read back
//         from the error.

#include "trireme/comm/call.h"

#include <gtest/gtest.h>

#include <vector>

#include "trireme/base/error.h"
#include "trireme/comm/connect_threads.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;

Error error_of(const Group& group, const Call& call) {
  std::vector<float> data(3);
  try {
    group.all_reduce(span(data), ReduceOp::Sum, call).wait();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::Misuse, "nothing was thrown");
}

TEST(Call, HasNoLabelPriorityOrDeadlineByDefault) {
  const Call call;
  EXPECT_TRUE(call.label.empty());
  EXPECT_EQ(call.priority, 0);
  EXPECT_FALSE(call.deadline.has_value());
  EXPECT_EQ(call.stream, nullptr);
}

TEST(Call, ItsDeadlineReplacesTheGroupsTimeout) {
  const auto groups = connect_threads(2, {.timeout = 1h});
  const TimePoint begun = steady_clock().now();
  const Error error = error_of(groups[0], {.label = "bucket 2", .deadline = Deadline::after(20ms)});
  EXPECT_EQ(error.code(), ErrorCode::Deadline) << error.what();
  EXPECT_GE(steady_clock().now() - begun, 20ms);
  EXPECT_LT(steady_clock().now() - begun, 1h);
  EXPECT_EQ(error.operation(), "all_reduce #1 (bucket 2)");
}

TEST(Call, AStreamIsRefusedForHostMemory) {
  const auto groups = connect_threads(2, {.timeout = 20ms});
  int stream = 0;
  const Error error = error_of(groups[0], {.stream = &stream});
  EXPECT_EQ(error.code(), ErrorCode::Misuse);
  EXPECT_NE(std::string(error.what()).find("stream"), std::string::npos) << error.what();
  EXPECT_FALSE(groups[0].error().has_value()) << "the group can still be used";
}

TEST(Call, WithoutADeadlineTheGroupsTimeoutApplies) {
  const auto groups = connect_threads(2, {.timeout = 20ms});
  EXPECT_EQ(error_of(groups[1], {}).code(), ErrorCode::Deadline);
}

}  // namespace
}  // namespace trireme::comm
