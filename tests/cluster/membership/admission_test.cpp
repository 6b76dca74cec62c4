// Goal:   the two state machines send the fewest requests, a request that came too late or twice
//         does no harm, and a job that cannot begin ends for all its workers.
// Method: the test drives each one over a LocalStore, in orders that are rare with real workers.

#include "trireme/cluster/membership/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/cluster/membership/succession.h"
#include "trireme/cluster/store/local_store.h"

namespace trireme::cluster::membership {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

Member member_of(int worker) {
  Member member;
  member.rank = worker;
  member.host = "h";
  member.pid = 100 + worker;
  return member;
}

bool never(const Epoch&) {
  return false;
}

class AdmissionTest : public ::testing::Test {
 protected:
  StoreReply answer(const StoreRequest& request) {
    return store.ask(request, Deadline::after(30s));
  }
  // Runs the machine until it is over or would wait; returns how many requests that took.
  template <class Machine>
  int drive(Machine& machine) {
    int count = 0;
    for (; !machine.is_over(); ++count) {
      const StoreRequest request = machine.request();
      if (request.verb == StoreVerb::Wait && !store.get(request.key, Deadline::after(30s))) break;
      machine.on_reply(answer(request));
    }
    return count;
  }
  // As drive(), but every wait is interrupted before its reply arrives.
  void drive_interrupted(Admission& admission) {
    for (int count = 0; count < 10 && !admission.is_over(); ++count) {
      if (admission.request().verb == StoreVerb::Wait) {
        admission.on_timeout();
      } else {
        admission.on_reply(answer(admission.request()));
      }
    }
  }
  Epoch found(int count) {
    std::vector<EpochMember> entries;
    for (int worker = 0; worker < count; ++worker) {
      entries.push_back({worker, worker, false, member_of(worker)});
    }
    const Epoch epoch(1, entries);
    store.set("epoch/1", encode(epoch), Deadline::after(30s));
    return epoch;
  }
  Succession succession_of(int worker, const Epoch& current) {
    return Succession({.worker = worker, .current = current, .report = to_bytes("r")});
  }
  LocalStore store;
};

TEST_F(AdmissionTest, TheLastWorkerToArriveCreatesTheFirstEpoch) {
  Admission first({.self = member_of(0), .first_size = 2});
  Admission second({.self = member_of(1), .first_size = 2});
  drive(first);
  EXPECT_FALSE(first.is_over());
  drive(second);
  ASSERT_TRUE(second.is_over());
  drive(first);
  EXPECT_EQ(encode(first.epoch()), encode(second.epoch()));
}

TEST_F(AdmissionTest, OnlyTheLastWorkerToArriveReadsTheRecords) {
  std::vector<Admission> workers;
  for (int worker = 0; worker < 3; ++worker) {
    workers.push_back(Admission({.self = member_of(worker), .first_size = 3}));
  }
  // Charter, record and count; the last worker also looks for an epoch, reads the records and
  // creates the first epoch.
  EXPECT_EQ(drive(workers[0]), 3);
  EXPECT_EQ(drive(workers[1]), 3);
  EXPECT_EQ(drive(workers[2]), 7);
  EXPECT_EQ(drive(workers[0]), 1);
  EXPECT_EQ(workers[0].epoch().size(), 3);
}

TEST_F(AdmissionTest, FewerWorkersBeginIfFewerAreWanted) {
  Admission admission({.self = member_of(0), .first_size = 2});
  drive(admission);
  admission.on_timeout();
  drive(admission);
  EXPECT_FALSE(admission.is_over()) << "no other number is wanted";
  store.set("wanted", to_bytes("1"), Deadline::after(30s));
  admission.on_timeout();
  drive(admission);
  ASSERT_TRUE(admission.is_over());
  EXPECT_EQ(admission.epoch().size(), 1);
}

TEST_F(AdmissionTest, AWorkerHearsOfTheFirstEpochThoughItsWaitsAreTooShort) {
  for (const int least : {1, 2}) {
    Admission admission(
        {.self = member_of(0), .first_size = 2, .least = least, .most = 2, .is_abandoned = never});
    drive(admission);
    found(2);
    drive_interrupted(admission);
    ASSERT_TRUE(admission.is_over()) << "at least " << least;
    EXPECT_EQ(admission.epoch().size(), 2);
    for (const char* key : {"epoch/1", "announced"}) store.erase(key, Deadline::after(30s));
  }
}

TEST_F(AdmissionTest, AWorkerHearsThatAJobAdmittedItThoughItsWaitsAreTooShort) {
  found(2);
  Admission admission({.self = member_of(2), .is_abandoned = never});
  drive(admission);
  const Epoch next(2, {{0, 0, false, member_of(0)}, {2, 2, true, member_of(2)}});
  store.set("epoch/2", encode(next), Deadline::after(30s));
  drive_interrupted(admission);
  ASSERT_TRUE(admission.is_over());
  EXPECT_EQ(admission.epoch().number(), 2u);
}

TEST_F(AdmissionTest, AWorkerThatDiffersEndsOnlyAJobThatNeedsEveryWorker) {
  for (const int least : {1, 2}) {
    store.erase("charter", Deadline::after(30s));
    Admission first({.self = member_of(0), .first_size = 2, .least = least});
    Member different = member_of(1);
    different.build = "other";
    Admission second({.self = different, .first_size = 2, .least = least});
    drive(first);
    drive(second);
    drive(first);
    ASSERT_TRUE(second.is_over());
    EXPECT_EQ(first.is_over(), least == 2);
    if (!first.is_over()) {
      store.erase("worker/0000000", Deadline::after(30s));
      continue;
    }
    try {
      static_cast<void>(first.epoch());
      FAIL() << "joined";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Mismatch);
      EXPECT_THAT(error.message(), HasSubstr("worker 1 has build other, worker 0 has build "));
    }
  }
}

TEST_F(AdmissionTest, AJobWhoseMembersAreAllDeadRestarts) {
  found(2);
  Admission one({.self = member_of(2), .first_size = 2, .is_abandoned = [](const Epoch& epoch) {
                   return epoch.number() == 1;
                 }});
  Admission other({.self = member_of(3), .first_size = 2});
  drive(one);
  drive(other);
  EXPECT_FALSE(one.is_over()) << "the other worker had not announced itself yet";
  one.on_timeout();
  drive(one);
  EXPECT_EQ(one.epoch().number(), 2u);
  EXPECT_FALSE(one.epoch().contains(0));
  EXPECT_FALSE(one.epoch().member(0).is_new) << "after a restart no member has a state to send";
  drive(other);
  EXPECT_EQ(encode(other.epoch()), encode(one.epoch()));
}

// The launcher replaces the worker; a refusal in the store would end its replacement too.
TEST_F(AdmissionTest, AnElasticJobThatNeedsEveryWorkerWritesNoRefusal) {
  Admission admission(
      {.self = member_of(0), .first_size = 2, .least = 2, .is_abandoned = [](const Epoch&) {
         return false;
       }});
  drive(admission);
  admission.on_deadline(3s);
  drive(admission);
  ASSERT_TRUE(admission.is_over());
  EXPECT_EQ(store.get("epoch/1", Deadline::after(30s)), std::nullopt);
}

// The answer that there is no later epoch is still in flight when the deadline passes.
TEST_F(AdmissionTest, AWorkerThatIsLateDoesNotFoundAnEpochBesideLiveMembers) {
  found(2);
  Admission admission(
      {.self = member_of(2), .first_size = 3, .least = 1, .is_abandoned = [](const Epoch&) {
         return false;
       }});
  while (admission.request().key != "epoch/2") admission.on_reply(answer(admission.request()));
  ASSERT_EQ(admission.request().verb, StoreVerb::Get);
  admission.on_deadline(3s);
  drive(admission);
  ASSERT_TRUE(admission.is_over());
  EXPECT_THROW(static_cast<void>(admission.epoch()), Error);
  EXPECT_EQ(store.get("epoch/2", Deadline::after(30s)), std::nullopt);
}

TEST_F(AdmissionTest, ARunningJobThatAdmitsNoWorkerIsNamedAtTheDeadline) {
  found(2);
  Admission admission({.self = member_of(2), .is_abandoned = [](const Epoch&) { return false; }});
  drive(admission);
  admission.on_deadline(2s);
  ASSERT_TRUE(admission.is_over());
  try {
    static_cast<void>(admission.epoch());
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("epoch 1 did not take worker 2 in within 2.0 s"));
  }
}

TEST_F(AdmissionTest, AfterALossThreeRequestsDecideTheEpoch) {
  const Epoch epoch = found(2);
  Succession alone = succession_of(0, epoch);
  alone.on_death(1);
  EXPECT_EQ(drive(alone), 3);
  EXPECT_EQ(alone.epoch().size(), 1);
}

TEST_F(AdmissionTest, AnEpochWithADeadMemberIsReplacedAtOnce) {
  const Epoch epoch = found(3);
  Succession early = succession_of(0, epoch);
  drive(early);  // knows of no death
  Succession late = succession_of(1, epoch);
  late.on_death(2);
  drive(late);
  EXPECT_EQ(late.decided().size(), 2u);
  EXPECT_EQ(late.decided().back().number(), 3u);
  EXPECT_FALSE(early.is_over());
  early.on_timeout();
  drive(early);
  ASSERT_TRUE(early.is_over()) << "it must notice that the others are in a later epoch";
  drive(late);
  EXPECT_EQ(encode(early.epoch()), encode(late.epoch()));
  EXPECT_EQ(early.reports().size(), 2u);
}

TEST_F(AdmissionTest, ADeathAfterTheDecisionReopensIt) {
  const Epoch epoch = found(2);
  Succession one = succession_of(0, epoch);
  Succession two = succession_of(1, epoch);
  drive(one);
  drive(two);
  drive(one);
  ASSERT_TRUE(one.is_over() && two.is_over());
  one.on_death(1);
  EXPECT_FALSE(one.is_over());
  drive(one);
  EXPECT_EQ(one.epoch().number(), 3u);
}

TEST_F(AdmissionTest, AWorkerThatWasDeclaredDeadGetsAnError) {
  const Epoch epoch = found(2);
  Succession accuser = succession_of(0, epoch);
  accuser.on_death(1);
  drive(accuser);
  Succession accused = succession_of(1, epoch);
  drive(accused);
  try {
    static_cast<void>(accused.epoch());
    FAIL() << "it is not in that epoch";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Aborted);
    EXPECT_THAT(error.message(), HasSubstr("epoch 2 goes on without worker 1"));
  }
}

TEST_F(AdmissionTest, ALaterReportDoesNotReplaceTheFirst) {
  const Epoch epoch = found(2);
  Succession first = succession_of(0, epoch);
  drive(first);
  Succession again({.worker = 0, .current = epoch, .report = to_bytes("another")});
  drive(again);
  Succession other = succession_of(1, epoch);
  drive(other);
  drive(again);
  EXPECT_EQ(text_of(other.reports().at(0)), "r");
  EXPECT_EQ(again.reports(), other.reports());
}

}  // namespace
}  // namespace trireme::cluster::membership
