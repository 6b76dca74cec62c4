// Goal:   processes with a valid proof share an arena, its memory outlives its writers and its
//         creator, and no files remain in the file system.
// Method: fork passes the proof and closes the mapping; children end by _exit or SIGKILL and report
//         through the arena itself.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "trireme/comm/arena.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;

Deadline soon() {
  return Deadline::after(20s);
}

// Runs `body` in a child process, which exits with its result; -9 if it was killed.
pid_t start_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 99;
    try {
      code = body();
    } catch (...) {
      code = 98;
    }
    ::_exit(code);
  }
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

std::set<std::string> named_memory() {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", error)) {
    names.insert(entry.path().filename());
  }
  return names;
}

// A child process holds the arena; this process has only its proof, received through a pipe.
class Holder {
 public:
  Holder() {
    int to_us[2], to_child[2];
    EXPECT_EQ(::pipe(to_us), 0);
    EXPECT_EQ(::pipe(to_child), 0);
    child_ = start_child([&] {
      const auto arena = Arena::create({.members = 2});
      const ArenaPiece piece = arena->allocate(0, 64);
      std::strcpy(reinterpret_cast<char*>(piece.data()), "from the first");
      const MemoryFile::Proof proof = arena->proof();
      const std::uint64_t place = arena->offset_of(piece.data());
      if (::write(to_us[1], &proof, sizeof(proof)) < 0) return 1;
      if (::write(to_us[1], &place, sizeof(place)) < 0) return 1;
      char stop;
      return ::read(to_child[0], &stop, 1) == 1 ? 0 : 1;
    });
    EXPECT_EQ(::read(to_us[0], &proof_, sizeof(proof_)), static_cast<ssize_t>(sizeof(proof_)));
    EXPECT_EQ(::read(to_us[0], &place_, sizeof(place_)), static_cast<ssize_t>(sizeof(place_)));
    for (const int fd : {to_us[0], to_us[1], to_child[0]}) ::close(fd);
    stop_ = to_child[1];
  }
  ~Holder() {
    if (child_ > 0) kill_it();
    ::close(stop_);
  }
  void kill_it() {
    ::kill(child_, SIGKILL);
    EXPECT_EQ(wait_for(std::exchange(child_, 0)), -SIGKILL);
  }

  const MemoryFile::Proof& proof() const { return proof_; }
  std::uint64_t place() const { return place_; }

 private:
  pid_t child_ = 0;
  int stop_ = -1;
  MemoryFile::Proof proof_;
  std::uint64_t place_ = 0;
};

TEST(ArenaProcess, AnotherProcessOpensItByProof) {
  const Holder holder;
  const auto arena = Arena::open(holder.proof());
  ASSERT_NE(arena, nullptr);
  EXPECT_EQ(arena->members(), 2);
  EXPECT_STREQ(reinterpret_cast<char*>(arena->at(holder.place())), "from the first");
}

TEST(ArenaProcess, AWrongProofOpensNothing) {
  const Holder holder;
  MemoryFile::Proof proof = holder.proof();
  proof.nonce[1] ^= 1;
  EXPECT_EQ(Arena::open(proof), nullptr);
}

TEST(ArenaProcess, MemoryStaysReadableAfterItsWriterWasKilled) {
  Holder holder;
  const auto arena = Arena::open(holder.proof());
  ASSERT_NE(arena, nullptr);
  holder.kill_it();
  EXPECT_STREQ(reinterpret_cast<char*>(arena->at(holder.place())), "from the first");
  const ArenaPiece mine = arena->allocate(1, 100);
  EXPECT_NE(mine.data(), arena->at(holder.place()));
  EXPECT_EQ(Arena::open(holder.proof()), nullptr)
      << "a proof is invalid after its process has died";
  EXPECT_NE(Arena::open(arena->proof()), nullptr) << "a surviving process can create a valid proof";
}

TEST(ArenaProcess, BlocksAreTheSameForAllProcesses) {
  const auto arena = Arena::create({.members = 4});
  constexpr int kChildren = 3;
  std::vector<pid_t> children;
  for (int c = 0; c < kChildren; ++c) {
    children.push_back(start_child([&] {
      const auto mine = Arena::open(arena->proof());
      if (!mine) return 1;
      for (std::uint64_t key = 10; key < 20; ++key) {
        auto* words = reinterpret_cast<std::atomic<int>*>(
            mine->find_or_make(key, 4096, kChildren + 1, soon()));
        words[0].fetch_add(1);
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  for (std::uint64_t key = 10; key < 20; ++key) {
    auto* words =
        reinterpret_cast<std::atomic<int>*>(arena->find_or_make(key, 4096, kChildren + 1, soon()));
    EXPECT_EQ(words[0].load(), kChildren);
  }
}

// The child is killed at a random point, so sometimes while it holds the directory's lock.
TEST(ArenaProcess, TheDirectorySurvivesAProcessKilledWhileItHeldTheLock) {
  const auto arena = Arena::create({.members = 2});
  for (int round = 0; round < 20; ++round) {
    const pid_t child = start_child([&] {
      for (std::uint64_t key = 100;; key = key % 50 + 100) {
        arena->find_or_make(key, std::size_t{1} << 20, 1, soon());
        arena->release(key);
      }
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ::kill(child, SIGKILL);
    wait_for(child);
    ASSERT_EQ(arena->find_or_make(7, 4096, 1, soon())[4095], std::byte{0}) << "round " << round;
    EXPECT_TRUE(arena->release(7));
    EXPECT_LE(arena->usage(soon()).entries, static_cast<std::size_t>(round) + 1);
  }
}

TEST(ArenaProcess, NothingHasANameInTheFileSystem) {
  const std::set<std::string> before = named_memory();
  const Holder holder;
  const auto arena = Arena::open(holder.proof());
  const ArenaPiece piece = arena->allocate(1, 1 << 20);
  for (const std::string& name : named_memory()) {
    EXPECT_TRUE(before.count(name) != 0 || name.find("trireme") == std::string::npos) << name;
  }
}

}  // namespace
}  // namespace trireme::comm
