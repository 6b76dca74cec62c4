// Goal:   a life page is readable only for processes that can prove their right to it, and its
//         words have the right meaning; the kernel marks them when a thread ends without leaving.
// Method: one process maps its own page through /proc; a thread owns the words and ends.

#include "trireme/cluster/liveness/life_page.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/cluster/liveness/robust_list.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::cluster {
namespace {

TEST(LifePage, AValidProofOpensTheSameMemory) {
  const LifePage page = LifePage::make();
  const std::optional<LifePage> other = LifePage::open(page.proof());
  ASSERT_TRUE(other);
  page.store(LifePage::kWatchersMax - 1, 42);
  EXPECT_EQ(other->load(LifePage::kWatchersMax - 1), 42u);
  EXPECT_THROW(page.word(LifePage::kWatchersMax), Error);
  EXPECT_THROW(page.word(-1), Error);
}

TEST(LifePage, AHeartbeatContainsTheWorkersReport) {
  const LifePage page = LifePage::make();
  const std::optional<LifePage> other = LifePage::open(page.proof());
  ASSERT_TRUE(other);
  for (const bool flag : {false, true}) {
    const Liveness::Report report{.moves = 7,
                                  .waits = 9,
                                  .is_waiting = flag,
                                  .is_in_long_phase = !flag,
                                  .step = Duration(42)};
    page.beat(report);
    EXPECT_EQ(other->report(), report);
  }
  EXPECT_EQ(other->beats(), 2u);
}

TEST(LifePage, TheFirstReasonIsKeptAndLongOnesAreTruncated) {
  const LifePage page = LifePage::make();
  EXPECT_EQ(page.reason(), "");
  page.say_reason("stuck");
  page.say_reason("silent");
  EXPECT_EQ(LifePage::open(page.proof()).value().reason(), "stuck");
  page.store(LifePage::kWatchersMax - 1, 0xffffffff);
  EXPECT_EQ(page.reason(), "stuck");
  const LifePage other = LifePage::make();
  other.say_reason(std::string(2 * LifePage::kReasonMax, 'x'));
  EXPECT_EQ(other.reason(), std::string(LifePage::kReasonMax - 1, 'x'));
}

// The other peer may be frozen in the middle of it: its word at 56 says that it has started.
TEST(LifePage, AReasonIsReadableWhileAnotherPeerIsWritingOne) {
  const LifePage page = LifePage::make();
  const std::optional<MemoryFile> memory = MemoryFile::open(page.proof());
  ASSERT_TRUE(memory);
  std::atomic_ref(*reinterpret_cast<std::uint32_t*>(memory->data() + 56)).store(1);
  EXPECT_EQ(page.reason(), "");
  page.say_reason("stuck");
  EXPECT_EQ(page.reason(), "stuck");
}

TEST(LifePage, AReasonIsReadableOnceAnyOfManyPeersHasWrittenIt) {
  for (int round = 0; round < 200; ++round) {
    const LifePage page = LifePage::make();
    std::atomic<int> unknown = 0;
    testing::run_rank_threads(8, [&](int rank) {
      const LifePage own = LifePage::open(page.proof()).value();
      own.say_reason("stuck, says " + std::to_string(rank));
      if (!own.reason().starts_with("stuck, says ")) ++unknown;
    });
    EXPECT_EQ(unknown, 0);
  }
}

TEST(LifePage, AWrongProofOpensNothing) {
  const LifePage page = LifePage::make();
  const MemoryFile::Proof right = page.proof();
  MemoryFile::Proof wrong = right;
  wrong.nonce[1] ^= 1;
  EXPECT_FALSE(LifePage::open(wrong));
  wrong = right;
  wrong.descriptor = STDIN_FILENO;
  EXPECT_FALSE(LifePage::open(wrong));
  wrong = right;
  wrong.pid = ::getppid();
  EXPECT_FALSE(LifePage::open(wrong));
  wrong = right;
  wrong.size = 4096;
  EXPECT_FALSE(LifePage::open(wrong));
  EXPECT_FALSE(LifePage::open({}));
}

TEST(LifePage, AWordDistinguishesLivingLeftAndDied) {
  const LifePage page = LifePage::make();
  EXPECT_EQ(page.sign_of(1234u | FUTEX_WAITERS), LifeSign::Living);
  EXPECT_EQ(page.sign_of(LifePage::kLeft), LifeSign::Left);
  EXPECT_EQ(page.sign_of(FUTEX_OWNER_DIED | FUTEX_WAITERS), LifeSign::Died);
  page.mark_left();
  EXPECT_EQ(page.sign_of(FUTEX_OWNER_DIED | FUTEX_WAITERS), LifeSign::Left)
      << "the process was killed while it was leaving";
}

TEST(RobustList, TheDestructorMarksTheWordsAsLeft) {
  const LifePage page = LifePage::make();
  std::thread([&] {
    {
      const RobustList words(page, 3);
      EXPECT_EQ(page.load(2), static_cast<std::uint32_t>(::gettid()) | FUTEX_WAITERS);
      EXPECT_EQ(page.load(3), 0u) << "the list owns only the requested words";
    }
    EXPECT_EQ(page.load(2), LifePage::kLeft);
  }).join();
  EXPECT_EQ(page.load(0), LifePage::kLeft) << "the end of the thread must not change the word";
}

TEST(RobustList, AnEndWithoutTheDestructorIsMarkedByTheKernel) {
  const LifePage page = LifePage::make();
  // Raw storage: the thread ends without destroying its object, as if it had been killed.
  alignas(RobustList) std::byte storage[sizeof(RobustList)];
  std::thread([&] { new (storage) RobustList(page, LifePage::kWatchersMax); }).join();
  EXPECT_EQ(page.load(0), FUTEX_WAITERS | FUTEX_OWNER_DIED);
  EXPECT_EQ(page.load(LifePage::kWatchersMax - 1), FUTEX_WAITERS | FUTEX_OWNER_DIED);
  std::thread([&] { reinterpret_cast<RobustList*>(storage)->~RobustList(); }).join();
}

}  // namespace
}  // namespace trireme::cluster
