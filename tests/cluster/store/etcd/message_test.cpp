// Goal:   answers of etcd's gateway are decoded, including zeros that it omits; refusals become the
//         right error code; malformed answers are refused.
// Method: answers as etcd 3.4 sends them.

#include "trireme/cluster/store/etcd/message.h"

#include <gtest/gtest.h>

namespace trireme::cluster::etcd {
namespace {

TEST(EtcdMessage, ThePrefixRangeEndsAfterItsLastKey) {
  EXPECT_EQ(Keys::with_prefix("a/").end, "a0");
  EXPECT_EQ(Keys::with_prefix("a\xff").end, "b");
  EXPECT_EQ(Keys::with_prefix("\xff\xff").end, std::string(1, '\0'))
      << "etcd encodes an open end as a zero byte";
}

TEST(EtcdMessage, ReadsARange) {
  const RangeReply none = read_range(R"({"header":{"cluster_id":"1","revision":"7"}})");
  EXPECT_EQ(none.revision, 7u);
  EXPECT_TRUE(none.items.empty());
  const RangeReply one = read_range(
      R"({"header":{"revision":"9"},"kvs":[{"key":"YQ==","mod_revision":"8","version":"1"}],)"
      R"("count":"1"})");
  ASSERT_EQ(one.items.size(), 1u);
  EXPECT_EQ(one.items[0].key, "a");
  EXPECT_EQ(one.items[0].value, Bytes{});
  EXPECT_EQ(one.items[0].revision, 8u);
}

TEST(EtcdMessage, ReadsATransaction) {
  const TxnReply made = read_txn(
      R"({"header":{"revision":"9"},"succeeded":true,"responses":[{"response_put":{}},{}]})");
  EXPECT_TRUE(made.is_made);
  EXPECT_EQ(made.revision, 9u);
  const TxnReply refused = read_txn(
      R"({"header":{"revision":"9"},"responses":[{"response_range":{"header":{}}},)"
      R"({"response_range":{"kvs":[{"key":"YQ==","value":"Yg==","mod_revision":"3"}]}}]})");
  EXPECT_FALSE(refused.is_made);
  EXPECT_FALSE(refused.current);
  ASSERT_TRUE(refused.marker);
  EXPECT_EQ(refused.marker->value, to_bytes("b"));
}

TEST(EtcdMessage, ReadsLeasesAndWatches) {
  EXPECT_EQ(read_grant(R"({"header":{},"ID":"7587862094123465","TTL":"5"})"), 7587862094123465u);
  EXPECT_EQ(read_keep_alive(R"({"result":{"header":{},"ID":"1","TTL":"5"}})"), 5);
  EXPECT_EQ(read_keep_alive(R"({"result":{"header":{},"ID":"1"}})"), 0) << "it is over";
  EXPECT_TRUE(read_watch(R"({"result":{"header":{"revision":"4"},"created":true}})").is_created);
  const WatchReply gone = read_watch(
      R"({"result":{"header":{"revision":"4"},"canceled":true,"compact_revision":"3"}})");
  EXPECT_TRUE(gone.is_ended);
  EXPECT_EQ(gone.compacted, 3u);
  const WatchReply two = read_watch(
      R"({"result":{"header":{"revision":"6"},"events":[{"kv":{"key":"YQ==","mod_revision":"5"}},)"
      R"({"type":"DELETE","kv":{"key":"YQ==","mod_revision":"6"}}]}})");
  ASSERT_EQ(two.events.size(), 2u);
  EXPECT_EQ(two.events[0].value, Bytes{});
  EXPECT_EQ(two.events[1].value, std::nullopt);
  EXPECT_EQ(two.events[1].revision, 6u);
  EXPECT_TRUE(read_watch(R"({"error":{"grpc_code":14,"message":"no leader"}})").is_ended);
}

TEST(EtcdMessage, DistinguishesTemporaryFromPermanentErrors) {
  const auto refusal = [](int code, const std::string& message) {
    return read_refusal(500, R"({"error":")" + message + R"(","code":)" + std::to_string(code) +
                                 R"(,"message":")" + message + "\"}");
  };
  EXPECT_TRUE(refusal(14, "etcdserver: no leader").is_passing);
  EXPECT_TRUE(refusal(8, "etcdserver: too many requests").is_passing);
  const EtcdRefusal lease = refusal(5, "etcdserver: requested lease not found");
  EXPECT_FALSE(lease.is_passing);
  EXPECT_EQ(lease.error.code(), ErrorCode::NotFound);
  EXPECT_EQ(refusal(8, "etcdserver: mvcc: database space exceeded").error.code(),
            ErrorCode::Exhausted);
  EXPECT_EQ(refusal(3, "etcdserver: request is too large").error.code(), ErrorCode::Exhausted);
  EXPECT_EQ(refusal(3, "etcdserver: user name is empty").error.code(), ErrorCode::Unauthenticated);
  EXPECT_EQ(read_refusal(404, "404 page not found").error.code(), ErrorCode::Unsupported);
  EXPECT_TRUE(read_refusal(502, "<html>").is_passing);
}

TEST(EtcdMessage, RefusesMalformedAnswers) {
  for (const char* text : {"", "[", "[]", R"({"kvs":3})", R"({"kvs":[{"key":"!"}]})",
                           R"({"header":{"revision":"x"}})", R"({"header":{"revision":[]}})"}) {
    EXPECT_THROW(read_range(text), Error) << text;
  }
  EXPECT_THROW(read_txn(R"({"responses":[]})"), Error);
  EXPECT_THROW(read_keep_alive("{}"), Error);
  for (const char* text : {R"({"ID":1e35})", R"({"ID":-1})", R"({"ID":0.5})"}) {
    EXPECT_THROW(read_grant(text), Error) << text;
  }
  EXPECT_THROW(read_watch("{}"), Error);
}

}  // namespace
}  // namespace trireme::cluster::etcd
