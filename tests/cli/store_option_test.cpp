// Goal:   --store accepts an etcd address and reports what is wrong with anything else.
// Method: handmade texts.

#include "trireme/cli/store_option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::cli {
namespace {

TEST(StoreOption, AcceptsOnlyAnEtcdAddress) {
  std::string store;
  EXPECT_EQ(set_store(store, "etcd://a:1,[::1]:2"), "");
  EXPECT_EQ(store, "etcd://a:1,[::1]:2");
  EXPECT_THAT(set_store(store, "tcp://a:1"), ::testing::HasSubstr("does not begin with etcd://"));
  EXPECT_THAT(set_store(store, "etcd://a"), ::testing::HasSubstr("\"a\" is no HOST:PORT"));
  EXPECT_THAT(set_store(store, "etcd://a:1/mine"), ::testing::HasSubstr("added by itself"));
  EXPECT_THAT(set_store(store, "etcd://u:p@a:1"), ::testing::HasSubstr("password"));
  EXPECT_EQ(store, "etcd://a:1,[::1]:2") << "an invalid value changes nothing";
}

}  // namespace
}  // namespace trireme::cli
