// Goal:   pieces of an arena are disjoint, page-aligned and reused; a shortage is Exhausted and
//         keeps no memory; all callers get the same shared block for the same key.
// Method: one process. arena_process_test.cpp covers several processes.

#include "trireme/comm/arena.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

#include "trireme/base/error.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPage = 4096;

// Small segments, so that a test can fill them.
std::shared_ptr<Arena> small_arena(std::size_t pages = 64) {
  return Arena::create({.members = 3, .segment_size = pages * kPage});
}

// More than this machine has, but within a sanitizer's address space.
std::size_t absurd_size() {
  return 2 * static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * kPage;
}

Deadline soon() {
  return Deadline::after(10s);
}

template <class Body>
ErrorCode code_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::NotFound;  // no error
}

// The memory that the file actually uses, in bytes.
std::size_t memory_of(const Arena& arena) {
  struct stat status{};
  EXPECT_EQ(::fstat(arena.proof().descriptor, &status), 0);
  return static_cast<std::size_t>(status.st_blocks) * 512;
}

TEST(Arena, ReportsItsProperties) {
  const auto arena = small_arena();
  EXPECT_EQ(arena->members(), 3);
  EXPECT_EQ(code_of([] { Arena::create({.members = 0}); }), ErrorCode::Misuse);
  EXPECT_EQ(code_of([] { Arena::create({.members = 100000}); }), ErrorCode::Misuse);
}

TEST(Arena, PiecesAreAlignedDisjointAndUsable) {
  const auto arena = small_arena();
  std::vector<ArenaPiece> pieces;
  for (int member = 0; member < 3; ++member) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kPage, kPage + 1}) {
      pieces.push_back(arena->allocate(member, size));
      ASSERT_GE(pieces.back().size(), size);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(pieces.back().data()) % kPage, 0u);
      ASSERT_TRUE(arena->contains(pieces.back().data(), pieces.back().size()));
    }
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::memset(pieces[i].data(), static_cast<int>(i + 1), pieces[i].size());
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (std::size_t b = 0; b < pieces[i].size(); ++b) {
      ASSERT_EQ(pieces[i].data()[b], static_cast<std::byte>(i + 1)) << "piece " << i;
    }
  }
}

TEST(Arena, ContainsIsExactAtTheEdges) {
  const auto arena = small_arena();
  const ArenaPiece piece = arena->allocate(0, kPage);
  EXPECT_EQ(arena->at(arena->offset_of(piece.data())), piece.data());
  EXPECT_TRUE(arena->contains(piece.data(), 0));
  const int here = 0;
  EXPECT_FALSE(arena->contains(&here, sizeof(here)));
  EXPECT_FALSE(arena->contains(nullptr, 0));
  std::byte* const end = arena->at(arena->proof().size);
  EXPECT_TRUE(arena->contains(end - 1, 1));
  EXPECT_FALSE(arena->contains(end - 1, 2));
  EXPECT_FALSE(arena->contains(piece.data(), SIZE_MAX));
}

TEST(Arena, FreedPiecesAreMergedAndReused) {
  const auto arena = small_arena(12);
  std::vector<ArenaPiece> pieces;
  for (int i = 0; i < 4; ++i) pieces.push_back(arena->allocate(1, 3 * kPage));
  EXPECT_EQ(code_of([&] { (void)arena->allocate(1, 1); }), ErrorCode::Exhausted) << "full";
  std::byte* const begin = pieces[0].data();
  for (const std::size_t i : {1u, 3u, 0u, 2u}) pieces[i] = ArenaPiece();
  const ArenaPiece whole = arena->allocate(1, 12 * kPage);
  EXPECT_EQ(whole.data(), begin) << "the four holes became one";
}

TEST(Arena, AHoleIsCutFromItsFront) {
  const auto arena = small_arena(8);
  ArenaPiece first = arena->allocate(0, 6 * kPage);
  const ArenaPiece guard = arena->allocate(0, 2 * kPage);
  std::byte* const begin = first.data();
  first = ArenaPiece();
  const ArenaPiece a = arena->allocate(0, 2 * kPage), b = arena->allocate(0, 4 * kPage);
  EXPECT_EQ(a.data(), begin);
  EXPECT_EQ(b.data(), begin + 2 * kPage);
  EXPECT_EQ(code_of([&] { (void)arena->allocate(0, 1); }), ErrorCode::Exhausted);
}

TEST(Arena, LargePiecesReturnTheirMemory) {
  const auto arena = Arena::create({.members = 1});
  const std::size_t before = memory_of(*arena);
  constexpr std::size_t kSize = std::size_t{8} << 20;
  {
    const ArenaPiece piece = arena->allocate(0, kSize);
    EXPECT_GE(memory_of(*arena), before + kSize)
        << "memory is reserved at once, not at the first access";
  }
  EXPECT_LT(memory_of(*arena), before + kSize / 8);
}

TEST(Arena, QuarantinedMemoryIsFreedAfterItsEpoch) {
  const auto arena = Arena::create({.members = 2});
  constexpr std::size_t kSize = std::size_t{8} << 20;
  std::size_t after_one = 0;
  for (std::uint64_t epoch = 1; epoch < 5; ++epoch) {
    ArenaPiece freed = arena->allocate(0, kSize);
    ArenaPiece kept = arena->allocate(0, kSize);
    std::byte* const first = freed.data();
    for (const ArenaPiece* piece : {&freed, &kept}) {
      arena->quarantine(piece->data() + kPage, kPage, epoch);
    }
    freed = ArenaPiece();
    EXPECT_NE(arena->allocate(0, kSize).data(), first) << "a process may still write there";
    arena->end_quarantine(epoch);
    EXPECT_NE(arena->allocate(0, kSize).data(), first)
        << "the epoch of the quarantine has not ended";
    arena->end_quarantine(epoch + 1);
    EXPECT_EQ(arena->allocate(0, kSize).data(), first);
    kept = ArenaPiece();
    if (epoch == 1) after_one = memory_of(*arena);
  }
  EXPECT_EQ(memory_of(*arena), after_one);
  // A quarantine without an epoch never ends.
  ArenaPiece piece = arena->allocate(1, kSize);
  std::byte* const data = piece.data();
  arena->quarantine(data, 1, 3);
  arena->quarantine(data, 1);
  piece = ArenaPiece();
  arena->end_quarantine(99);
  EXPECT_NE(arena->allocate(1, kSize).data(), data);
}

TEST(Arena, AbsurdSizesAreExhaustedAndKeepNoMemory) {
  const auto arena = Arena::create({.members = 2, .segment_size = 2 * absurd_size()});
  const std::size_t before = memory_of(*arena);
  for (const std::size_t size :
       {absurd_size(), 3 * absurd_size(), SIZE_MAX / 2, SIZE_MAX - kPage, SIZE_MAX}) {
    EXPECT_EQ(code_of([&] { (void)arena->allocate(1, size); }), ErrorCode::Exhausted) << size;
  }
  EXPECT_EQ(memory_of(*arena), before);
  EXPECT_NE(arena->allocate(1, kPage).data(), nullptr) << "the arena can still be used";
}

TEST(Arena, AFailedReuseKeepsTheHole) {
  const auto arena = Arena::create({.members = 1, .segment_size = absurd_size()});
  ArenaPiece small = arena->allocate(0, 4 * kPage);
  std::byte* const begin = small.data();
  small = ArenaPiece();
  EXPECT_EQ(code_of([&] { (void)arena->allocate(0, absurd_size() / 4 * 3); }),
            ErrorCode::Exhausted);
  EXPECT_EQ(arena->allocate(0, 4 * kPage).data(), begin);
}

TEST(Arena, InvalidMemberNumbersAreRefused) {
  const auto arena = small_arena();
  EXPECT_EQ(code_of([&] { (void)arena->allocate(3, 1); }), ErrorCode::Misuse);
  EXPECT_EQ(code_of([&] { (void)arena->allocate(-1, 1); }), ErrorCode::Misuse);
}

TEST(Arena, PiecesOutliveTheHandleThatAllocatedThem) {
  auto arena = small_arena();
  ArenaPiece piece = arena->allocate(2, 100);
  arena.reset();
  std::memset(piece.data(), 7, piece.size());
  ArenaPiece moved = std::move(piece);
  EXPECT_EQ(piece.data(), nullptr);  // NOLINT: moved from, on purpose
  EXPECT_EQ(moved.data()[99], std::byte{7});
}

TEST(Arena, SharedBlocksAreFoundByKey) {
  const auto arena = small_arena();
  std::byte* const made = arena->find_or_make(42, 100, 1, soon());
  EXPECT_EQ(made[99], std::byte{0});
  EXPECT_EQ(arena->find_or_make(42, 100, 1, soon()), made);
  EXPECT_NE(arena->find_or_make(43, 100, 1, soon()), made);
  EXPECT_NE(arena->find_or_make(42 + 8192, 100, 1, soon()), made)
      << "the same place in the directory";
  EXPECT_EQ(code_of([&] { arena->find_or_make(42, 5000, 1, soon()); }), ErrorCode::Mismatch);
  EXPECT_EQ(code_of([&] { arena->find_or_make(0, 100, 1, soon()); }), ErrorCode::Misuse);
}

TEST(Arena, ABlockIsFreedWhenItsLastUserReleasesIt) {
  const auto arena = small_arena();
  constexpr std::size_t kSize = std::size_t{4} << 20;
  const std::size_t before = memory_of(*arena);
  std::byte* const block = arena->find_or_make(7, kSize, 2, soon());
  std::memset(block, 1, kSize);
  EXPECT_FALSE(arena->release(7));
  EXPECT_EQ(arena->find_or_make(7, kSize, 2, soon()), block)
      << "the second user has not released it";
  EXPECT_EQ(block[kSize - 1], std::byte{1});
  EXPECT_TRUE(arena->release(7));
  EXPECT_LT(memory_of(*arena), before + kSize / 4);
  EXPECT_EQ(arena->find_or_make(7, kSize, 2, soon())[kSize - 1], std::byte{0})
      << "a new block is zero";
  EXPECT_FALSE(arena->release(8)) << "no block has this key";
}

TEST(Arena, EveryCallerOfAnImpossibleBlockGetsExhausted) {
  const auto arena = small_arena();
  // Larger than the address space of the common part.
  constexpr std::size_t kAbsurd = std::size_t{65} << 30;
  // A Deadline error would mean that the second call waited for the first one's block.
  for (int caller = 0; caller < 2; ++caller) {
    EXPECT_EQ(code_of([&] { arena->find_or_make(9, kAbsurd, 2, Deadline::after(20s)); }),
              ErrorCode::Exhausted);
    EXPECT_EQ(code_of([&] { arena->find_or_make(10, SIZE_MAX, 2, Deadline::after(20s)); }),
              ErrorCode::Exhausted);
  }
}

TEST(Arena, ThreadsThatRaceForAKeyGetTheSameBlock) {
  const auto arena = small_arena();
  constexpr int kThreads = 4;
  for (std::uint64_t key = 100; key < 160; ++key) {
    std::byte* blocks[kThreads] = {};
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        ++ready;
        while (ready < kThreads) std::this_thread::yield();
        blocks[t] = arena->find_or_make(key, 3 * kPage, kThreads, soon());
      });
    }
    for (auto& thread : threads) thread.join();
    for (std::byte* block : blocks) ASSERT_EQ(block, blocks[0]);
    ASSERT_EQ(blocks[0][3 * kPage - 1], std::byte{0});
  }
}

TEST(Arena, EntriesAndSpaceOfBlocksAreReused) {
  const auto arena = small_arena();
  std::byte* const first = arena->find_or_make(1000, kPage, 1, soon());
  std::byte* const second = arena->find_or_make(1001, kPage, 1, soon());
  ASSERT_TRUE(arena->release(1000));
  for (std::uint64_t key = 2000; key < 30000; ++key) {
    ASSERT_EQ(arena->find_or_make(key, kPage, 1, soon()), first) << "the gap is reused";
    ASSERT_TRUE(arena->release(key));
  }
  EXPECT_EQ(arena->usage(soon()).entries, 1u);
  EXPECT_EQ(arena->usage(soon()).bytes, kPage);
  EXPECT_EQ(arena->find_or_make(1001, kPage, 1, soon()), second);
}

TEST(Arena, ReservedAddressesUseNoMemory) {
  const auto arena = small_arena();
  const std::size_t before = memory_of(*arena);
  constexpr std::size_t kSize = std::size_t{64} << 20;
  std::byte* const block = arena->try_find_or_make(5, kSize, 1, false);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(memory_of(*arena), before);
  arena->reserve(block + kSize / 2, kPage);
  EXPECT_EQ(memory_of(*arena), before + kPage);
}

TEST(Arena, RegisteredMemoryIsFoundUntilItsRegistrationEnds) {
  const auto arena = small_arena();
  const ArenaPiece piece = arena->allocate(1, 100);
  EXPECT_FALSE(arena->find_memory(77).has_value());
  {
    const Registration known = arena->register_memory(77, piece.data(), 100, 3, soon());
    const auto found = arena->find_memory(77);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->data, piece.data());
    EXPECT_EQ(found->size, 100u);
    EXPECT_EQ(found->note, 3u);
    EXPECT_EQ(code_of([&] { (void)arena->register_memory(77, piece.data(), 1, 0, soon()); }),
              ErrorCode::Misuse)
        << "taken";
  }
  EXPECT_FALSE(arena->find_memory(77).has_value());
  const int elsewhere = 0;
  EXPECT_EQ(code_of([&] { (void)arena->register_memory(78, &elsewhere, 4, 0, soon()); }),
            ErrorCode::Misuse);
  EXPECT_EQ(arena->usage(soon()).entries, 0u);
}

TEST(Arena, EveryMemberHasItsOwnDoorbell) {
  const auto arena = small_arena();
  EXPECT_NE(&arena->doorbell(0), &arena->doorbell(1));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&arena->doorbell(1)) % 64, 0u);
  EXPECT_EQ(arena->doorbell(2).rings, 0u);
}

}  // namespace
}  // namespace trireme::comm
