// Goal:   a roster is decoded as it was encoded, groups ranks by host, and refuses malformed bytes.
// Method: round trips at several sizes, truncation at every byte, rosters out of order.

#include "trireme/cluster/roster.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::cluster {
namespace {

Member member_of(int rank, int size, const std::string& host) {
  Member member;
  member.rank = rank;
  member.size = size;
  member.host = host;
  member.host_name = "name of " + host;
  member.build = "0123456789abcdef";
  member.job_hash = "job";
  member.pid = 1000 + rank;
  member.cores = 2;
  member.life = {1000 + rank, 7, 16384, {static_cast<std::uint64_t>(rank), 99}};
  member.addresses = {"tcp://10.0.0.1:" + std::to_string(4000 + rank)};
  return member;
}

Roster roster_of(int size, int hosts) {
  std::vector<Member> members;
  for (int rank = 0; rank < size; ++rank) {
    members.push_back(member_of(rank, size, "host" + std::to_string(rank % hosts)));
  }
  return Roster(3, members);
}

TEST(Roster, IsDecodedAsItWasEncoded) {
  for (const int size : {1, 2, 7, 100}) {
    const Roster sent = roster_of(size, 3);
    const Roster got = decode_roster(encode(sent));
    EXPECT_EQ(got.epoch(), 3u);
    ASSERT_EQ(got.size(), size);
    for (int rank = 0; rank < size; ++rank) {
      EXPECT_EQ(encode(got.member(rank)), encode(sent.member(rank)));
    }
    EXPECT_EQ(got.hosts(), sent.hosts());
  }
}

TEST(Roster, GroupsByHostInTheOrderOfFirstRanks) {
  const Roster roster = roster_of(5, 2);
  const std::vector<std::vector<int>> expected{{0, 2, 4}, {1, 3}};
  EXPECT_EQ(roster.hosts(), expected);
  EXPECT_EQ(roster.host_of(3), 1);
  EXPECT_EQ(roster.ranks_beside(4), expected[0]);
  EXPECT_THROW(roster.member(5), Error);
  EXPECT_THROW(roster.host_of(-1), Error);
}

TEST(Roster, SharedTextsAreEncodedOnce) {
  std::vector<Member> members;
  for (int rank = 0; rank < 1000; ++rank) {
    members.push_back(member_of(rank, 1000, "one host with an identity of realistic length"));
    members.back().addresses.clear();
  }
  EXPECT_LT(encode(Roster(0, members)).size(), 80u * 1000);
}

TEST(Roster, TruncatedBytesAreAProtocolError) {
  const Bytes whole = encode(roster_of(3, 2));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(decode_roster(ByteView(whole).first(size)), Error) << size;
  }
  const Bytes one = encode(member_of(0, 1, "h"));
  for (std::size_t size = 0; size < one.size(); ++size) {
    EXPECT_THROW(decode_member(ByteView(one).first(size)), Error) << size;
  }
}

TEST(Roster, RanksOutOfOrderAreRefused) {
  EXPECT_THROW(Roster(0, {member_of(1, 2, "h"), member_of(0, 2, "h")}), Error);
  Member impossible = member_of(5, 2, "h");
  EXPECT_THROW(decode_member(encode(impossible)), Error);
}

}  // namespace
}  // namespace trireme::cluster
