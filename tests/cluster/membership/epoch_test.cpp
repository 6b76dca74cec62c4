// Goal:   an epoch is decoded as it was encoded, and malformed bytes are refused; proposals keep
//         order and places, admit waiting workers, and dismiss workers that are not wanted.
// Method: artificial values; every prefix and many single-byte changes of an encoded epoch.

#include "trireme/cluster/membership/epoch.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/cluster/membership/proposal.h"
#include "trireme/cluster/membership/records.h"

namespace trireme::cluster::membership {
namespace {

Member member_of(int worker, const std::string& host = "h") {
  Member member;
  member.rank = worker;
  member.host = host;
  member.pid = 100 + worker;
  return member;
}

EpochMember entry_of(int worker, int place, bool is_new = false, const std::string& host = "h") {
  return {worker, place, is_new, member_of(worker, host)};
}

std::vector<int> workers_of(const Epoch& epoch) {
  std::vector<int> workers;
  for (const EpochMember& entry : epoch.members()) workers.push_back(entry.worker);
  return workers;
}

Presence presence_of(const std::vector<int>& workers, std::optional<int> wanted = std::nullopt) {
  Presence presence;
  for (const int worker : workers) presence.workers.emplace(worker, member_of(worker));
  presence.wanted = wanted;
  return presence;
}

struct Proposer {
  Epoch base;
  std::set<int> dead{};
  std::set<int> has_state{};
  Places avoided{};
  std::set<int> dismissed{};
  int most = kPlacesMax;

  Epoch operator()(const Presence* presence = nullptr) const {
    return propose({base, dead, has_state, avoided, dismissed, presence, most});
  }
};

TEST(Epoch, AssignsRanksInTheOrderOfItsSeats) {
  const Epoch epoch(3, {entry_of(4, 1), entry_of(0, 0), entry_of(9, 0, true, "other")}, {2});
  EXPECT_EQ(epoch.size(), 3);
  EXPECT_EQ(epoch.rank_of(0), 1);
  EXPECT_EQ(epoch.rank_of(7), std::nullopt);
  EXPECT_TRUE(epoch.has_dismissed(2));
  EXPECT_EQ(Epoch(4, {entry_of(9, 0)}).without(epoch), (std::vector<int>{4, 0}));
  const Roster roster = epoch.roster();
  EXPECT_EQ(roster.member(2).pid, 109);
  EXPECT_EQ(roster.member(2).rank, 2);
  EXPECT_EQ(roster.hosts().size(), 2u);
  EXPECT_THROW(Epoch(1, {entry_of(1, 0), entry_of(1, 1)}), Error) << "one worker, two members";
  EXPECT_THROW(Epoch(1, {entry_of(1, 0), entry_of(2, 0)}), Error) << "two workers, one place";
  EXPECT_THROW(Epoch(1, {entry_of(1, kPlacesMax)}), Error);
}

TEST(Epoch, IsDecodedAsItWasEncodedAndMalformedBytesAreRefused) {
  Epoch epoch(7, {entry_of(4, 1), entry_of(12, 0, true)}, {2, 3});
  epoch.set_cause(5, "its process died");
  const Bytes bytes = encode(epoch);
  const Epoch again = decode_epoch(bytes);
  EXPECT_EQ(encode(again), bytes);
  EXPECT_EQ(workers_of(again), (std::vector<int>{4, 12}));
  EXPECT_TRUE(again.member(1).is_new);
  EXPECT_EQ(again.causes(), (std::map<int, std::string>{{5, "its process died"}}));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(decode_epoch(ByteView(bytes).first(size)), Error) << size;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Bytes broken = bytes;
    broken[i] ^= std::byte{0xff};
    try {
      // If the changed bytes can still be decoded, they are another valid epoch.
      EXPECT_NE(encode(decode_epoch(broken)), bytes) << i;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Protocol) << error.what();
    }
  }
  EXPECT_THROW(decode_epoch(encode(Epoch())), Error) << "number 0 is never decided";
}

TEST(Records, KeysAndNumbersAreReadBackOrRefused) {
  EXPECT_EQ(worker_in(worker_key(12)), 12);
  EXPECT_EQ(worker_in(report_key(5, 12)), 12);
  EXPECT_EQ(worker_in("worker/x"), std::nullopt);
  EXPECT_EQ(worker_in("wanted"), std::nullopt);
  EXPECT_EQ(number_in(bytes_of("12")), 12u);
  EXPECT_EQ(number_in(bytes_of("12 ")), std::nullopt);
  EXPECT_TRUE(report_key(5, 12).starts_with(report_prefix(5)));
  EXPECT_TRUE(worker_key(1).starts_with(kPresencePrefix));
  EXPECT_TRUE(kWantedKey.starts_with(kPresencePrefix));
  EXPECT_EQ(name_workers(std::vector<int>{1, 3, 4, 5}), "workers 1, 3-5");
  EXPECT_EQ(name_workers({}), "no worker");
}

TEST(Records, PresenceFollowsChanges) {
  Presence presence;
  const Bytes record = encode(member_of(3));
  const Bytes wanted = to_bytes("2");
  note(presence, worker_key(3), &record);
  note(presence, worker_key(4), &record);
  note(presence, kWantedKey, &wanted);
  EXPECT_EQ(presence.workers.size(), 1u) << "a record under another worker's key is ignored";
  EXPECT_EQ(presence.wanted, 2);
  note(presence, worker_key(3), nullptr);
  note(presence, kWantedKey, nullptr);
  EXPECT_TRUE(presence.workers.empty());
  EXPECT_EQ(presence.wanted, std::nullopt);
}

TEST(Proposal, OmitsDeadWorkersAndKeepsTheOrder) {
  Proposer proposer{Epoch(4, {entry_of(5, 0), entry_of(1, 1), entry_of(3, 2)})};
  proposer.dead = {1};
  const Epoch epoch = proposer();
  EXPECT_EQ(epoch.number(), 5u);
  EXPECT_EQ(workers_of(epoch), (std::vector<int>{5, 3}));
  EXPECT_EQ(epoch.member(1).place, 2) << "a remaining member keeps its place";
}

TEST(Proposal, AdmitsWaitingWorkersAtFreePlaces) {
  Proposer proposer{Epoch(4, {entry_of(5, 0), entry_of(1, 1), entry_of(3, 3)})};
  proposer.dead = {1, 8};
  proposer.avoided = {{"h", 2}};
  const Presence presence = presence_of({1, 3, 5, 6, 7, 8});
  const Epoch epoch = proposer(&presence);
  EXPECT_EQ(workers_of(epoch), (std::vector<int>{5, 3, 6, 7}));
  EXPECT_TRUE(epoch.member(2).is_new);
  EXPECT_EQ(epoch.member(2).place, 4)
      << "the place of a worker that was just found dead is not reused yet";
  EXPECT_EQ(epoch.member(3).place, 5);
  proposer.most = 3;
  EXPECT_EQ(workers_of(proposer(&presence)), (std::vector<int>{5, 3, 6}));
}

TEST(Proposal, AWorkerIsNewUntilItHasTheTrainingState) {
  Proposer proposer{Epoch(4, {entry_of(0, 0), entry_of(1, 1, true)})};
  EXPECT_TRUE(proposer().member(1).is_new);
  proposer.has_state = {0, 1};
  EXPECT_FALSE(proposer().member(1).is_new);
}

TEST(Proposal, DismissesTheHighestNumbersIfFewerAreWanted) {
  const Proposer proposer{Epoch(4, {entry_of(5, 0), entry_of(1, 1), entry_of(3, 2)})};
  const Presence fewer = presence_of({1, 3, 5, 9}, 2);
  const Epoch epoch = proposer(&fewer);
  EXPECT_EQ(workers_of(epoch), (std::vector<int>{1, 3}));
  EXPECT_EQ(std::vector<int>(epoch.dismissed().begin(), epoch.dismissed().end()),
            std::vector<int>{5});
  Proposer later{epoch};
  later.dismissed = {5};
  const Presence again = presence_of({5, 9});
  EXPECT_EQ(workers_of(later(&again)), (std::vector<int>{1, 3, 9}))
      << "worker 5 was dismissed and is not admitted again";
  EXPECT_TRUE(later(&again).has_dismissed(5));
  const Presence none = presence_of({}, 0);
  EXPECT_EQ(workers_of(proposer(&none)), std::vector<int>{1}) << "a job has at least one worker";
  const Presence more = presence_of({9, 10}, 4);
  EXPECT_EQ(workers_of(proposer(&more)), (std::vector<int>{5, 1, 3, 9}));
}

TEST(Proposal, TheFirstEpochAdmitsTheAnnouncedWorkersAsNotNew) {
  const Epoch epoch = propose_first(Epoch(), presence_of({0, 2, 1}), 2);
  EXPECT_EQ(workers_of(epoch), (std::vector<int>{0, 1}));
  EXPECT_EQ(epoch.member(1).place, 1);
  EXPECT_FALSE(epoch.member(1).is_new);
  const Epoch before(3, {entry_of(0, 0)}, {1});
  const Epoch anew = propose_first(before, presence_of({0, 1, 2}), 2);
  EXPECT_EQ(anew.number(), 4u);
  EXPECT_EQ(workers_of(anew), std::vector<int>{2});
  EXPECT_TRUE(anew.has_dismissed(1));
}

}  // namespace
}  // namespace trireme::cluster::membership
