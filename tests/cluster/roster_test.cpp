// Goal:   members are decoded as they were encoded, malformed bytes are refused, and a roster
// groups
//         ranks by host.
// Method: round trips at several sizes, truncation at every byte, rosters out of order.

#include "trireme/cluster/roster.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "trireme/base/error.h"

namespace trireme::cluster {
namespace {

Member member_of(int rank, int size, const std::string& host) {
  Member member;
  member.role = rank % 3 == 2 ? Role::Server : Role::Worker;
  member.rank = rank;
  member.size = size;
  member.host = host;
  member.host_name = "name of " + host;
  member.build = "0123456789abcdef";
  member.job_hash = "job";
  member.pid = 1000 + rank;
  member.cores = 2;
  member.life = {1000 + rank, 7, 16384, {static_cast<std::uint64_t>(rank), 99}};
  return member;
}

Roster roster_of(int size, int hosts) {
  std::vector<Member> members;
  for (int rank = 0; rank < size; ++rank) {
    members.push_back(member_of(rank, size, "host" + std::to_string(rank % hosts)));
  }
  return Roster(3, members);
}

Bytes encode(std::span<const Member> members) {
  std::vector<const Member*> all;
  for (const Member& member : members) all.push_back(&member);
  ByteWriter out;
  write_members(out, all);
  return std::move(out).take();
}

std::vector<Member> decode(ByteView bytes) {
  ByteReader in(bytes);
  return read_members(in);
}

TEST(Roster, IsDecodedAsItWasEncoded) {
  for (const int size : {1, 2, 7, 100}) {
    const Roster sent = roster_of(size, 3);
    const Roster got(3, decode(encode(sent.members())));
    EXPECT_EQ(got.epoch(), 3u);
    ASSERT_EQ(got.size(), size);
    for (int rank = 0; rank < size; ++rank) {
      EXPECT_EQ(encode(got.member(rank)), encode(sent.member(rank)));
    }
    EXPECT_EQ(got.hosts(), sent.hosts());
    EXPECT_EQ(got.member(size - 1).role, sent.member(size - 1).role);
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
  }
  EXPECT_LT(encode(members).size(), 80u * 1000);
}

TEST(Roster, TruncatedBytesAreAProtocolError) {
  const Bytes whole = encode(roster_of(3, 2).members());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(decode(ByteView(whole).first(size)), Error) << size;
  }
  const Bytes one = encode(member_of(0, 1, "h"));
  for (std::size_t size = 0; size < one.size(); ++size) {
    EXPECT_THROW(decode_member(ByteView(one).first(size)), Error) << size;
  }
}

TEST(Roster, AProcessDescribesItself) {
  const Member self = describe_process(process_environment);
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_GT(self.cores, 0);
  EXPECT_FALSE(self.host.empty());
  EXPECT_FALSE(self.build.empty());
}

TEST(Roster, RanksOutOfOrderAreRefused) {
  EXPECT_THROW(Roster(0, {member_of(1, 2, "h"), member_of(0, 2, "h")}), Error);
  Member impossible = member_of(5, 2, "h");
  EXPECT_THROW(decode_member(encode(impossible)), Error);
  impossible.size = 0;
  EXPECT_EQ(decode_member(encode(impossible)).rank, 5) << "a job whose size changes";
}

}  // namespace
}  // namespace trireme::cluster
