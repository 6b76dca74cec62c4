// Goal:   the ranks of a job of fixed size meet in its first epoch, or all learn the same reason
// why
//         not: which rank differs, came twice, or never came.
// Method: threads as ranks, one store session each, on every kind of store; a thousand ranks over
//         real connections within a time limit.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <optional>

#include "tests/cluster/store_kinds.h"
#include "trireme/base/build_info.h"
#include "trireme/base/error.h"
#include "trireme/cluster/membership/admission.h"

namespace trireme::cluster::membership {
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

Epoch join(Store& store, const Member& member, Deadline deadline) {
  const int size = member.size;
  return admit(store,
               {.self = member, .first_size = size, .least = size, .most = size, .noun = "rank"},
               deadline, steady_clock().now());
}

struct Outcome {
  std::optional<Epoch> epoch;
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
        outcomes[i].epoch = join(*stores[i], members[i], Deadline::after(timeout));
      } catch (const Error& error) {
        outcomes[i].error = error;
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
  return outcomes;
}

template <class Kind>
class FirstEpochTest : public ::testing::Test {
 protected:
  Kind kind;
};

TYPED_TEST_SUITE(FirstEpochTest, StoreKinds);

TYPED_TEST(FirstEpochTest, AllRanksGetTheSame) {
  std::vector<Member> members;
  for (int rank = 0; rank < 7; ++rank) members.push_back(member_of(rank, 7));
  const std::vector<Outcome> outcomes = meet(this->kind, members, 30s);
  for (const Outcome& outcome : outcomes) {
    ASSERT_TRUE(outcome.epoch) << outcome.error->what();
    EXPECT_EQ(encode(*outcome.epoch), encode(*outcomes[0].epoch));
  }
  EXPECT_EQ(outcomes[0].epoch->member(6).about.pid, 106);
}

TYPED_TEST(FirstEpochTest, TheDeadlineNamesExactlyWhoNeverCame) {
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

TYPED_TEST(FirstEpochTest, WhoeverComesAfterTheOthersGaveUpLearnsThat) {
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

TEST(FirstEpoch, DifferentBuildsNameBothRanksAndBothValues) {
  LocalKind kind;
  std::vector<Member> members{member_of(0, 3), member_of(1, 3), member_of(2, 3)};
  members[2].build = "b2";
  expect_mismatch(meet(kind, members, 30s), "rank 2 has build b2", " has build b1");
}

TEST(FirstEpoch, DifferentJobsAndSizesAreRefusedAtOnce) {
  LocalKind jobs;
  std::vector<Member> members{member_of(0, 2), member_of(1, 2)};
  members[0].job_hash = "other";
  expect_mismatch(meet(jobs, members, 30s), "rank 0 has job hash other", "rank 1 has job hash j1");
  LocalKind sizes;
  expect_mismatch(meet(sizes, {member_of(0, 5), member_of(1, 4)}, 30s),
                  "rank 0 has a job of size 5", "rank 1 has a job of size 4");
}

TEST(FirstEpoch, ARankThatComesTwiceIsRefusedByName) {
  LocalKind kind;
  std::vector<Member> members{member_of(0, 3), member_of(1, 3), member_of(1, 3)};
  members[2].pid = 77;
  expect_mismatch(meet(kind, members, 30s), "rank 1 came twice: pid ", "pid 77 on here");
}

TEST(FirstEpoch, AStoreOfAnotherRunIsRefused) {
  LocalKind kind;
  ASSERT_TRUE(meet(kind, {member_of(0, 1)}, 30s)[0].epoch);
  Member again = member_of(0, 1);
  again.pid = 5;
  expect_mismatch(meet(kind, {again}, 30s), "another run", "rank 0 is not this process");
}

TEST(FirstEpoch, ARankThatDiedBeforeTheMeetingCanBeReplaced) {
  LocalKind kind;
  auto first = kind.open();
  // Writes only its record, as if it had been killed while it waited.
  const Bytes record = encode(member_of(0, 2));
  first->set(worker_key(0), record, Deadline::after(5s), Lifetime::Session);
  first->add(kAnnouncedKey, 1, Deadline::after(5s));
  first.reset();
  Member replacement = member_of(0, 2);
  replacement.pid = 4242;
  const std::vector<Outcome> outcomes = meet(kind, {replacement, member_of(1, 2)}, 30s);
  ASSERT_TRUE(outcomes[1].epoch) << outcomes[1].error->what();
  EXPECT_EQ(outcomes[1].epoch->member(0).about.pid, 4242);
}

// The user builds again and starts again, with the same store.
TEST(FirstEpoch, ARunThatWasInterruptedBeforeTheMeetingLeavesNothing) {
  LocalKind kind;
  auto dead = kind.open();
  Member old = member_of(0, 2);
  old.build = "b0";
  Admission waiting({.self = old, .first_size = 2, .least = 2, .noun = "rank"});
  while (waiting.request().verb != StoreVerb::Wait) {
    waiting.on_reply(dead->ask(waiting.request(), Deadline::after(5s)));
  }
  dead.reset();
  const std::vector<Outcome> outcomes = meet(kind, {member_of(0, 2), member_of(1, 2)}, 30s);
  ASSERT_TRUE(outcomes[0].epoch) << outcomes[0].error->what();
  EXPECT_EQ(outcomes[0].epoch->size(), 2);
}

TEST(FirstEpoch, ALargerRunInTheStoreOfAnotherIsRefusedAtOnce) {
  LocalKind kind;
  ASSERT_TRUE(meet(kind, {member_of(0, 1)}, 30s)[0].epoch);
  auto store = kind.open();
  Admission second({.self = member_of(1, 2), .first_size = 2, .least = 2, .noun = "rank"});
  for (int i = 0; i < 20 && !second.is_over(); ++i) {
    if (second.request().verb == StoreVerb::Wait) break;
    second.on_reply(store->ask(second.request(), Deadline::after(5s)));
  }
  ASSERT_TRUE(second.is_over());
  EXPECT_THROW(
      {
        try {
          static_cast<void>(second.epoch());
        } catch (const Error& error) {
          EXPECT_THAT(error.message(), ::testing::HasSubstr("another run (it has no rank 1)"));
          throw;
        }
      },
      Error);
}

TEST(FirstEpoch, AThousandRanksMeetWithOneConnectionEach) {
  // Sanitizers slow a thousand threads down far more than a thousand processes.
  const int size = base::build_info().sanitizer != "OFF" ? 200 : 1000;
  StoreServer kind;
  std::vector<Member> members;
  for (int rank = 0; rank < size; ++rank) members.push_back(member_of(rank, size));
  const std::vector<Outcome> outcomes = meet(kind, members, 110s);
  const Bytes table = outcomes[0].epoch ? encode(*outcomes[0].epoch) : Bytes{};
  for (const Outcome& outcome : outcomes) {
    EXPECT_TRUE(outcome.epoch && encode(*outcome.epoch) == table);
  }
  EXPECT_EQ(kind.server().counters().sessions_accepted, static_cast<std::uint64_t>(size));
}

}  // namespace
}  // namespace trireme::cluster::membership
