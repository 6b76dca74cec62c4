// Goal:   a life page is read only by those who can prove that they may, and its words mean what
//         they should; the kernel marks them when a thread of ours ends without leaving.
// Method: one process maps its own page through /proc; a thread owns the words and ends.

#include "trireme/cluster/life_page.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <unistd.h>

#include <thread>

#include "trireme/base/error.h"
#include "trireme/cluster/robust_list.h"

namespace trireme::cluster {
namespace {

TEST(LifePage, AProofOpensTheSameMemory) {
  const LifePage page = LifePage::make();
  const std::optional<LifePage> other = LifePage::open(page.proof());
  ASSERT_TRUE(other);
  page.store(LifePage::kWatchersMax - 1, 42);
  EXPECT_EQ(other->load(LifePage::kWatchersMax - 1), 42u);
  EXPECT_THROW(page.word(LifePage::kWatchersMax), Error);
  EXPECT_THROW(page.word(-1), Error);
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

TEST(LifePage, AWordSaysLivingLeftOrDied) {
  const LifePage page = LifePage::make();
  EXPECT_EQ(page.sign_of(1234u | FUTEX_WAITERS), LifeSign::Living);
  EXPECT_EQ(page.sign_of(LifePage::kLeft), LifeSign::Left);
  EXPECT_EQ(page.sign_of(FUTEX_OWNER_DIED | FUTEX_WAITERS), LifeSign::Died);
  page.mark_left();
  EXPECT_EQ(page.sign_of(FUTEX_OWNER_DIED | FUTEX_WAITERS), LifeSign::Left)
      << "killed while it was leaving";
}

TEST(RobustList, TheDestructorLeavesAndTheThreadGoesOn) {
  const LifePage page = LifePage::make();
  std::thread([&] {
    {
      const RobustList words(page, 3);
      EXPECT_EQ(page.load(2), static_cast<std::uint32_t>(::gettid()) | FUTEX_WAITERS);
      EXPECT_EQ(page.load(3), 0u) << "only as many as asked for";
    }
    EXPECT_EQ(page.load(2), LifePage::kLeft);
  }).join();
  EXPECT_EQ(page.load(0), LifePage::kLeft) << "the end of the thread changes nothing any more";
}

TEST(RobustList, AnEndWithoutTheDestructorIsMarkedByTheKernel) {
  const LifePage page = LifePage::make();
  // Raw storage: the thread ends as if it had been killed, its object still standing.
  alignas(RobustList) std::byte storage[sizeof(RobustList)];
  std::thread([&] { new (storage) RobustList(page, LifePage::kWatchersMax); }).join();
  EXPECT_EQ(page.load(0), FUTEX_WAITERS | FUTEX_OWNER_DIED);
  EXPECT_EQ(page.load(LifePage::kWatchersMax - 1), FUTEX_WAITERS | FUTEX_OWNER_DIED);
  std::thread([&] { reinterpret_cast<RobustList*>(storage)->~RobustList(); }).join();
}

}  // namespace
}  // namespace trireme::cluster
