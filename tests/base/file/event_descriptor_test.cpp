// Goal:   poll(2) returns once another thread has called set(), and blocks again after clear().
// Method: a second thread, and poll(2) without waiting.

#include "trireme/base/file/event_descriptor.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

namespace trireme {
namespace {

bool is_readable(const EventDescriptor& event, int milliseconds) {
  pollfd wait{.fd = event.get(), .events = POLLIN, .revents = 0};
  return poll(&wait, 1, milliseconds) == 1;
}

TEST(EventDescriptor, IsReadableFromSetUntilClear) {
  const EventDescriptor event;
  EXPECT_FALSE(is_readable(event, 0));
  event.clear();
  EXPECT_FALSE(is_readable(event, 0));
  std::thread other([&] { event.set(); });
  EXPECT_TRUE(is_readable(event, 20'000));
  other.join();
  event.set();
  event.clear();
  EXPECT_FALSE(is_readable(event, 0)) << "two calls of set() are one event";
}

}  // namespace
}  // namespace trireme
