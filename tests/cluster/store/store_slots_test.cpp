// Goal:   concurrent requests of a session have different slots, and their number is bounded.
// Method: the pure class.

#include "trireme/cluster/store/store_slots.h"

#include <gtest/gtest.h>

namespace trireme::cluster {
namespace {

TEST(StoreSlots, RefusesMoreThanItsSlotsAndReusesReleasedOnes) {
  StoreSlots slots;
  std::set<std::uint16_t> used;
  StoreRequest request;
  for (std::size_t i = 0; i < StoreSlots::kSlotsMax; ++i) {
    ASSERT_TRUE(slots.assign(request));
    EXPECT_TRUE(used.insert(request.slot).second) << "slot " << request.slot << " is in use";
  }
  EXPECT_FALSE(slots.assign(request));
  slots.release(7);
  ASSERT_TRUE(slots.assign(request));
  EXPECT_EQ(request.slot, 7);
}

TEST(StoreSlots, ASlotThatIsNotInUseCannotBeReleased) {
  StoreSlots slots;
  StoreRequest request;
  ASSERT_TRUE(slots.assign(request));
  EXPECT_THROW(slots.release(500), Error);
  slots.release(request.slot);
  EXPECT_THROW(slots.release(request.slot), Error);
}

}  // namespace
}  // namespace trireme::cluster
