// Goal:   the map plans correctly, changes nothing until a commit, and respects its bounds.
// Method: handwritten plans and commits, with bounds small enough to reach.

#include "trireme/cluster/store/store_map.h"

#include <gtest/gtest.h>

namespace trireme::cluster {
namespace {

constexpr StoreSessionId kMe = 7;

StoreRequest make(StoreVerb verb, std::string key, const char* value = nullptr) {
  StoreRequest request;
  request.verb = verb;
  request.key = std::move(key);
  if (value) request.value = share(bytes_of(value));
  return request;
}

StoreReply run(StoreMap& map, const StoreRequest& request) {
  const StoreMap::Plan plan = map.plan(kMe, request);
  if (plan.change) map.commit(*plan.change);
  return plan.reply;
}

TEST(StoreMap, PlanningChangesNothing) {
  StoreMap map;
  const StoreMap::Plan plan = map.plan(kMe, make(StoreVerb::Set, "a", "1"));
  ASSERT_TRUE(plan.change);
  EXPECT_EQ(map.find("a"), nullptr);
  EXPECT_EQ(map.revision(), 0u);
  map.commit(*plan.change);
  EXPECT_EQ(text_of(*map.find("a")), "1");
  EXPECT_EQ(map.revision(), 1u);
}

TEST(StoreMap, ARevisionIsNeverUsedTwice) {
  StoreMap map;
  const StoreMap::Plan plan = map.plan(kMe, make(StoreVerb::Set, "a", "1"));
  map.commit(*plan.change);
  EXPECT_THROW(map.commit(*plan.change), Error);
  map.advance(40);
  EXPECT_EQ(map.plan(kMe, make(StoreVerb::Set, "a", "2")).change->revision, 41u);
}

TEST(StoreMap, SwapOfAbsentByAbsentIsNoChange) {
  StoreMap map;
  const StoreMap::Plan plan = map.plan(kMe, make(StoreVerb::Swap, "a"));
  EXPECT_TRUE(plan.reply.flag);
  EXPECT_FALSE(plan.change);
}

TEST(StoreMap, AddRefusesTextAndOverflow) {
  StoreMap map;
  run(map, make(StoreVerb::Set, "text", "12x"));
  StoreRequest add = make(StoreVerb::Add, "text");
  EXPECT_EQ(run(map, add).error, ErrorCode::Mismatch);
  add.key = "n";
  add.delta = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(run(map, add).number, add.delta);
  add.delta = 1;
  EXPECT_EQ(run(map, add).error, ErrorCode::InvalidInput);
  EXPECT_EQ(text_of(*map.find("n")), "9223372036854775807") << "a refused add changes nothing";
}

TEST(StoreMap, RespectsItsBounds) {
  StoreBounds bounds;
  bounds.keys_max = 2;
  bounds.key_size_max = 4;
  bounds.value_size_max = 3;
  bounds.bytes_max = 9;
  bounds.reply_size_max = 64;
  StoreMap map(bounds);
  EXPECT_EQ(run(map, make(StoreVerb::Set, "", "1")).error, ErrorCode::InvalidInput);
  EXPECT_EQ(run(map, make(StoreVerb::Set, "12345", "1")).error, ErrorCode::InvalidInput);
  EXPECT_EQ(run(map, make(StoreVerb::Set, "a", "1234")).error, ErrorCode::Exhausted);
  EXPECT_FALSE(run(map, make(StoreVerb::Set, "a", "123")).error);
  EXPECT_FALSE(run(map, make(StoreVerb::Set, "b", "123")).error);
  EXPECT_EQ(run(map, make(StoreVerb::Set, "c", "1")).error, ErrorCode::Exhausted) << "third key";
  EXPECT_FALSE(run(map, make(StoreVerb::Set, "b", "12")).error)
      << "replacing a value frees the old one";
  EXPECT_TRUE(run(map, make(StoreVerb::Erase, "b")).flag);
  EXPECT_EQ(run(map, make(StoreVerb::Set, "bbbb", "12")).error, ErrorCode::Exhausted) << "bytes";
  EXPECT_EQ(map.byte_size(), 4u);
}

TEST(StoreMap, AListThatIsTooLargeIsRefusedEntirely) {
  StoreBounds bounds;
  bounds.reply_size_max = 100;
  StoreMap map(bounds);
  for (const char* key : {"a", "b", "c", "d"}) run(map, make(StoreVerb::Set, key, "x"));
  const StoreReply reply = run(map, make(StoreVerb::List, ""));
  EXPECT_EQ(reply.error, ErrorCode::Exhausted);
  EXPECT_TRUE(reply.items.empty());
  EXPECT_EQ(run(map, make(StoreVerb::List, "c")).items.size(), 1u);
}

TEST(StoreMap, EndingASessionErasesOnlyItsKeys) {
  StoreMap map;
  StoreRequest mine = make(StoreVerb::Set, "mine", "1");
  mine.lifetime = Lifetime::Session;
  run(map, mine);
  mine.key = "given";
  run(map, mine);
  run(map, make(StoreVerb::Set, "given", "the key now belongs to the job"));
  run(map, make(StoreVerb::Set, "job", "1"));
  EXPECT_EQ(map.plan_end(kMe).size(), 1u);
  for (const StoreMap::Change& change : map.plan_end(kMe)) map.commit(change);
  EXPECT_EQ(map.find("mine"), nullptr);
  EXPECT_NE(map.find("given"), nullptr);
  EXPECT_NE(map.find("job"), nullptr);
  EXPECT_TRUE(map.plan_end(kMe).empty());
}

TEST(StoreMap, TheSnapshotIsOldestFirst) {
  StoreMap map;
  for (const char* key : {"c", "a", "b"}) run(map, make(StoreVerb::Set, key, "x"));
  run(map, make(StoreVerb::Set, "c", "again"));
  std::string order;
  for (const StoreMap::Change& change : map.snapshot()) order += change.key;
  EXPECT_EQ(order, "abc");
}

}  // namespace
}  // namespace trireme::cluster
