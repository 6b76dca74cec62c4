// Goal:   a group uses memory only for the features that its members use, in proportion to their
//         number.
// Method: 64 members of one arena in one thread; the kernel reports the memory that the arena uses.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <iostream>
#include <memory>
#include <vector>

#include "trireme/comm/shm/lanes.h"
#include "trireme/comm/shm/mailbox.h"

namespace trireme::comm::shm {
namespace {

using namespace std::chrono_literals;

constexpr int kMembers = 64;
constexpr std::size_t kMebibyte = std::size_t{1} << 20;

struct Member {
  Member(const std::shared_ptr<Arena>& arena, const std::vector<Lanes::Member>& members, int me)
      : lanes(arena, members, me, 99, Deadline::after(10s)), mailbox(lanes) {}
  Lanes lanes;
  Mailbox mailbox;
};

std::size_t memory_of(const Arena& arena) {
  struct stat status{};
  EXPECT_EQ(::fstat(arena.proof().descriptor, &status), 0);
  return static_cast<std::size_t>(status.st_blocks) * 512;
}

TEST(Footprint, SixtyFourMembersUseMemoryOnlyForUsedFeatures) {
  const auto arena = Arena::create({.members = kMembers});
  const std::size_t empty = memory_of(*arena);
  std::vector<Lanes::Member> list;
  for (int m = 0; m < kMembers; ++m) list.push_back({m, m});
  std::vector<std::unique_ptr<Member>> members;
  for (int m = 0; m < kMembers; ++m) members.push_back(std::make_unique<Member>(arena, list, m));
  const std::size_t idle = memory_of(*arena) - empty;
  EXPECT_LT(idle, 4 * kMebibyte) << "an idle group";

  const std::byte data{1};
  for (int m = 0; m < kMembers; ++m) {
    Operation op;
    op.request = {.kind = OpKind::Send, .count = 1};
    op.peer = (m + 1) % kMembers;
    op.input = &data;
    Task task = members[static_cast<std::size_t>(m)]->mailbox.send(op);
    EXPECT_EQ(task.step(), Task::Step::Done);
  }
  const std::size_t sending = memory_of(*arena) - empty - idle;
  EXPECT_LT(sending, 48 * kMebibyte) << "every member sends";

  for (const auto& member : members) EXPECT_TRUE(member->lanes.open_windows());
  const std::size_t staging = memory_of(*arena) - empty - idle - sending;
  EXPECT_EQ(staging, kMembers * 2 * kWindows * kWindowSize) << "every member stages";
  std::cout << "64 members: " << idle / 1024 << " KiB idle, " << sending / 1024
            << " KiB when all send, " << staging / 1024 << " KiB when all stage\n";
  members.clear();
  EXPECT_EQ(memory_of(*arena), empty) << "all memory was returned";
}

}  // namespace
}  // namespace trireme::comm::shm
