// Goal:   an etcd address can be formatted and parsed, and errors are reported with their cause.
// Method: handwritten texts.

#include "trireme/cluster/store/etcd/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::cluster::etcd {
namespace {

TEST(EtcdPlace, IsParsedAsItWasFormatted) {
  for (const char* text : {"etcd://127.0.0.1:2379", "etcd://a:1,[::1]:2,c:65535", "etcd://a:1/j"}) {
    EXPECT_TRUE(EtcdPlace::is_meant(text));
    EXPECT_EQ(EtcdPlace::parse(text).to_text(), text);
  }
  const EtcdPlace place = EtcdPlace::parse("etcd://a:1,b:2/demo");
  ASSERT_EQ(place.members.size(), 2u);
  EXPECT_EQ(place.members[1], net::Address::tcp("b", 2));
  EXPECT_EQ(place.root(), "/trireme/demo/");
  EXPECT_EQ((EtcdPlace{.members = {}, .job = "torchrun-a/b"}).root(), "/trireme/torchrun-a_b/");
}

TEST(EtcdPlace, ReportsTheCauseOfAnError) {
  for (const char* text : {"etcd:a:1", "etcd://", "etcd://a", "etcd://a:1,", "etcd://a:0",
                           "etcd://a:1/b/c", "etcd://u:p@a:1", "http://a:1"}) {
    try {
      EtcdPlace::parse(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
      EXPECT_THAT(error.what(), ::testing::HasSubstr(text));
    }
  }
}

}  // namespace
}  // namespace trireme::cluster::etcd
