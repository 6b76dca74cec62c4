// Goal:   locks exclude, readers share, no caller starves, a lost holder frees the lock.
// Method: on every kind of store, with threads as ranks; a process that is killed while it holds a
//         lock is in store_process_test.cpp.

#include "trireme/cluster/store/lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>

#include "tests/cluster/store_kinds.h"
#include "trireme/base/error.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;

Deadline soon() {
  return Deadline::after(30s);
}

template <class Kind>
class LockTest : public ::testing::Test {
 public:
  Kind kind;
  std::unique_ptr<Store> a = kind.open();
  std::unique_ptr<Store> b = kind.open();
};

TYPED_TEST_SUITE(LockTest, StoreKinds);

TYPED_TEST(LockTest, OneHolderAtATime) {
  std::atomic<int> inside = 0;
  std::atomic<int> entered = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Lock lock(t % 2 ? *this->a : *this->b, "l");
      for (int i = 0; i < 5; ++i) {
        const Lock::Held held = lock.acquire(soon());
        EXPECT_EQ(++inside, 1);
        ++entered;
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(entered, 20);
  EXPECT_TRUE(this->a->list("lock/l/queue/", soon()).empty())
      << "the queue must be empty in the end";
}

TYPED_TEST(LockTest, AfterADeadlineTheLockCanStillBeAcquired) {
  Lock mine(*this->a, "l");
  Lock theirs(*this->b, "l");
  std::optional<Lock::Held> held = mine.acquire(soon());
  try {
    const Lock::Held stolen = theirs.acquire(Deadline::after(50ms));
    ADD_FAILURE() << "two holders";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Deadline);
  }
  held.reset();
  held = theirs.acquire(soon());
}

TYPED_TEST(LockTest, ReadersShareAndWritersExclude) {
  ReadWriteLock mine(*this->a, "rw");
  ReadWriteLock theirs(*this->b, "rw");
  std::optional<ReadWriteLock::Held> first = mine.read(soon());
  std::optional<ReadWriteLock::Held> second = theirs.read(soon());
  EXPECT_THROW(static_cast<void>(mine.write(Deadline::after(50ms))), Error);
  first.reset();
  second.reset();
  first = mine.write(soon());
  EXPECT_THROW(static_cast<void>(theirs.read(Deadline::after(50ms))), Error);
  EXPECT_THROW(static_cast<void>(theirs.write(Deadline::after(50ms))), Error);
  first.reset();
  second = theirs.read(soon());
}

// Waits until this many callers are queued for the lock "rw".
template <class Test>
void await_queue(Test& test, std::size_t count) {
  while (test.a->list("lock/rw/queue/", soon()).size() < count) ASSERT_FALSE(test.HasFailure());
}

TYPED_TEST(LockTest, AWaitingWriterBlocksLaterReaders) {
  ReadWriteLock mine(*this->a, "rw");
  ReadWriteLock theirs(*this->b, "rw");
  std::optional<ReadWriteLock::Held> reader = mine.read(soon());
  auto writer = std::async(std::launch::async, [&] { return theirs.write(soon()); });
  // The writer has written its key and only waits for the reader.
  while (!this->a->get("lock/rw/writer", soon())) ASSERT_FALSE(this->HasFailure());
  EXPECT_THROW(static_cast<void>(mine.read(Deadline::after(100ms))), Error)
      << "otherwise a stream of readers would starve the writers";
  reader.reset();
  ReadWriteLock::Held held = writer.get();
  auto later = std::async(std::launch::async, [&] { return mine.read(soon()); });
  held.release();
  later.get();
}

TYPED_TEST(LockTest, AWaitingReaderComesBeforeALaterWriter) {
  ReadWriteLock mine(*this->a, "rw");
  ReadWriteLock theirs(*this->b, "rw");
  ReadWriteLock::Held first = mine.write(soon());
  std::atomic<bool> has_read = false;
  auto reader = std::async(std::launch::async, [&] {
    const ReadWriteLock::Held held = theirs.read(soon());
    has_read = true;
  });
  await_queue(*this, 1);
  auto writer = std::async(std::launch::async, [&] {
    const ReadWriteLock::Held held = theirs.write(soon());
    EXPECT_TRUE(has_read);
  });
  await_queue(*this, 2);
  first.release();
  reader.get();
  writer.get();
}

}  // namespace
}  // namespace trireme::cluster
