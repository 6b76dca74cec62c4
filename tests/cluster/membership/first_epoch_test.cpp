// Goal:   ranks meet, or all learn the same reason why not: which rank differs, came twice, or
//         never came.
// Method: threads as ranks, one store session each, on every kind of store; a thousand ranks over
//         real connections within a time limit.

#include "trireme/cluster/rendezvous.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <optional>

#include "tests/cluster/store_kinds.h"
#include "trireme/base/build_info.h"
#include "trireme/base/error.h"
#include "trireme/cluster/meeting.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;

Member member_of(int rank, int size) {
  Member member;
  member.rank = rank;
  member.size = size;
  member.host = "host";
  member.host_name = "here";
  member.build = "b1";
  member.job_hash = "j1";
  member.pid = 100 + rank;
  member.life.nonce = {static_cast<std::uint64_t>(rank), 1};
  return member;
}

struct Outcome {
  std::optional<Roster> roster;
  std::optional<Error> error;
};

// Runs every member on its own thread and session; sessions stay open until all are done.
template <class Kind>
std::vector<Outcome> meet(Kind& kind, const std::vector<Member>& members, Duration timeout) {
  std::vector<Outcome> outcomes(members.size());
  std::vector<std::unique_ptr<Store>> stores(members.size());
  std::vector<std::thread> ranks;
  for (std::size_t i = 0; i < members.size(); ++i) {
    ranks.emplace_back([&, i] {
      stores[i] = kind.open();
      try {
        outcomes[i].roster = rendezvous(*stores[i], 0, members[i], Deadline::after(timeout));
      } catch (const Error& error) {
        outcomes[i].error = error;
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
  return outcomes;
}

template <class Kind>
class RendezvousTest : public ::testing::Test {
 protected:
  Kind kind;
};

TYPED_TEST_SUITE(RendezvousTest, StoreKinds);

TYPED_TEST(RendezvousTest, AllGetTheSameRoster) {
  std::vector<Member> members;
  for (int rank = 0; rank < 7; ++rank) members.push_back(member_of(rank, 7));
  const std::vector<Outcome> outcomes = meet(this->kind, members, 30s);
  for (const Outcome& outcome : outcomes) {
    ASSERT_TRUE(outcome.roster) << outcome.error->what();
    EXPECT_EQ(encode(*outcome.roster), encode(*outcomes[0].roster));
  }
  EXPECT_EQ(outcomes[0].roster->member(6).pid, 106);
}

TYPED_TEST(RendezvousTest, TheDeadlineNamesExactlyWhoNeverCame) {
  std::vector<Member> members;
  for (const int rank : {0, 1, 2, 4, 5, 6, 10, 11}) members.push_back(member_of(rank, 12));
  const std::vector<Outcome> outcomes = meet(this->kind, members, 1s);
  for (const Outcome& outcome : outcomes) {
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(outcome.error->code(), ErrorCode::Deadline);
    EXPECT_THAT(outcome.error->message(),
                ::testing::HasSubstr("ranks 3, 7-9 of 12 did not come within "));
  }
}

TYPED_TEST(RendezvousTest, WhoeverComesAfterTheOthersGaveUpLearnsThat) {
  const Outcome early = meet(this->kind, {member_of(0, 2)}, 100ms)[0];
  ASSERT_TRUE(early.error);
  const Outcome late = meet(this->kind, {member_of(1, 2)}, 60s)[0];
  ASSERT_TRUE(late.error);
  EXPECT_THAT(late.error->message(), ::testing::HasSubstr("rank 0 gave up: rank 1 of 2"));
}

void expect_mismatch(const std::vector<Outcome>& outcomes, const std::string& a,
                     const std::string& b) {
  for (const Outcome& outcome : outcomes) {
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(outcome.error->code(), ErrorCode::Mismatch) << outcome.error->what();
    EXPECT_THAT(outcome.error->message(), ::testing::HasSubstr(a));
    EXPECT_THAT(outcome.error->message(), ::testing::HasSubstr(b));
  }
}

TEST(Rendezvous, DifferentBuildsNameBothRanksAndBothValues) {
  LocalKind kind;
  std::vector<Member> members{member_of(0, 3), member_of(1, 3), member_of(2, 3)};
  members[2].build = "b2";
  expect_mismatch(meet(kind, members, 30s), "rank 2 has build b2", " has build b1");
}

TEST(Rendezvous, DifferentJobsAndSizesAreRefusedAtOnce) {
  LocalKind jobs;
  std::vector<Member> members{member_of(0, 2), member_of(1, 2)};
  members[0].job_hash = "other";
  expect_mismatch(meet(jobs, members, 30s), "rank 0 has job hash other", "rank 1 has job hash j1");
  LocalKind sizes;
  expect_mismatch(meet(sizes, {member_of(0, 5), member_of(1, 4)}, 30s),
                  "rank 0 has a job of size 5", "rank 1 has a job of size 4");
}

TEST(Rendezvous, ARankThatComesTwiceIsRefusedByName) {
  LocalKind kind;
  std::vector<Member> members{member_of(0, 3), member_of(1, 3), member_of(1, 3)};
  members[2].pid = 77;
  expect_mismatch(meet(kind, members, 30s), "rank 1 came twice: pid ", "pid 77 on here");
}

TEST(Rendezvous, AStoreWithARosterOfAnotherRunIsRefused) {
  LocalKind kind;
  ASSERT_TRUE(meet(kind, {member_of(0, 1)}, 30s)[0].roster);
  Member again = member_of(0, 1);
  again.pid = 5;
  expect_mismatch(meet(kind, {again}, 30s), "another run", "rank 0 is not this process");
}

TEST(Rendezvous, ARankThatDiedBeforeTheMeetingCanBeReplaced) {
  LocalKind kind;
  auto first = kind.open();
  EXPECT_THROW(rendezvous(*first, 9, member_of(0, 2), Deadline::after(0ms)), Error);
  // Writes only its record, as if it had been killed while it waited.
  const Bytes record = encode(member_of(0, 2));
  first->set("meet/0/member/0000000", record, Deadline::after(5s), Lifetime::Session);
  first->add("meet/0/count", 1, Deadline::after(5s));
  first.reset();
  Member replacement = member_of(0, 2);
  replacement.pid = 4242;
  const std::vector<Outcome> outcomes = meet(kind, {replacement, member_of(1, 2)}, 30s);
  ASSERT_TRUE(outcomes[1].roster) << outcomes[1].error->what();
  EXPECT_EQ(outcomes[1].roster->member(0).pid, 4242);
}

TEST(Rendezvous, AThousandRanksMeetWithOneConnectionEach) {
  // Sanitizers slow a thousand threads down far more than a thousand processes.
  const int size = base::build_info().sanitizer != "OFF" ? 200 : 1000;
  RemoteKind kind;
  std::vector<Member> members;
  for (int rank = 0; rank < size; ++rank) members.push_back(member_of(rank, size));
  const std::vector<Outcome> outcomes = meet(kind, members, 110s);
  const Bytes table = outcomes[0].roster ? encode(*outcomes[0].roster) : Bytes{};
  for (const Outcome& outcome : outcomes) {
    EXPECT_TRUE(outcome.roster && encode(*outcome.roster) == table);
  }
  EXPECT_EQ(kind.server().counters().sessions_accepted, static_cast<std::uint64_t>(size));
}

}  // namespace
}  // namespace trireme::cluster
