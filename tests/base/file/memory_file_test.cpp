// Goal:   memory is shared only with a process that proves that it maps the same pages; a shortage
//         is an error in reserve(), never a later signal.
// Method: valid and forged proofs, in this process and from a forked child.

#include "trireme/base/file/memory_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "trireme/base/error.h"

namespace trireme {
namespace {

constexpr std::size_t kPage = 4096;

template <class Body>
ErrorCode code_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::NotFound;  // nothing was thrown
}

std::size_t memory_of(const MemoryFile& file) {
  struct stat status{};
  EXPECT_EQ(::fstat(file.descriptor(), &status), 0);
  return static_cast<std::size_t>(status.st_blocks) * 512;
}

TEST(MemoryFile, IsZeroExceptForItsNonce) {
  const MemoryFile file = MemoryFile::create("test", 3 * kPage);
  EXPECT_EQ(file.size(), 3 * kPage);
  const MemoryFile::Proof proof = file.proof();
  EXPECT_EQ(std::memcmp(file.data(), proof.nonce.data(), sizeof(proof.nonce)), 0);
  EXPECT_NE(proof.nonce, MemoryFile::Nonce{});
  for (std::size_t i = sizeof(proof.nonce); i < file.size(); ++i) {
    ASSERT_EQ(file.data()[i], std::byte{0}) << i;
  }
}

TEST(MemoryFile, TwoFilesHaveTwoNonces) {
  const MemoryFile a = MemoryFile::create("a", kPage), b = MemoryFile::create("a", kPage);
  EXPECT_NE(a.proof().nonce, b.proof().nonce);
}

TEST(MemoryFile, IsNotInheritedByPrograms) {
  const MemoryFile file = MemoryFile::create("test", kPage);
  EXPECT_NE(::fcntl(file.descriptor(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(MemoryFile, TooSmallForANonceIsMisuse) {
  EXPECT_EQ(code_of([] { MemoryFile::create("test", 15); }), ErrorCode::Misuse);
  EXPECT_EQ(MemoryFile::create("test", 16).size(), 16u);
}

TEST(MemoryFile, TheProofOpensTheSameMemory) {
  const MemoryFile file = MemoryFile::create("test", 2 * kPage);
  const auto opened = MemoryFile::open(file.proof());
  ASSERT_TRUE(opened.has_value());
  EXPECT_NE(opened->data(), file.data());
  file.data()[kPage] = std::byte{42};
  EXPECT_EQ(opened->data()[kPage], std::byte{42});
  opened->data()[kPage + 1] = std::byte{43};
  EXPECT_EQ(file.data()[kPage + 1], std::byte{43});
}

TEST(MemoryFile, ForgedProofsOpenNothing) {
  const MemoryFile file = MemoryFile::create("test", kPage);
  std::vector<MemoryFile::Proof> forged(8, file.proof());
  forged[0].nonce[0] ^= 1;
  forged[1].nonce[1] ^= std::uint64_t{1} << 63;
  forged[2].size += kPage;
  forged[3].size = 8;
  forged[4].pid = ::getppid();  // another process, which has other descriptors
  forged[5].pid = 0;
  forged[6].descriptor = -1;
  forged[7].descriptor = 1 << 20;
  for (std::size_t i = 0; i < forged.size(); ++i) {
    EXPECT_FALSE(MemoryFile::open(forged[i]).has_value()) << "forgery " << i;
  }
}

TEST(MemoryFile, DescriptorsOfOtherFilesAreNotOpened) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int stranger = ::memfd_create("somebody-else", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(stranger, kPage), 0);
  for (const int descriptor : {0, ends[0], ends[1], stranger}) {
    MemoryFile::Proof proof{::getpid(), descriptor, kPage, {}};
    EXPECT_FALSE(MemoryFile::open(proof).has_value()) << descriptor;
  }
  for (const int descriptor : {ends[0], ends[1], stranger}) ::close(descriptor);
}

TEST(MemoryFile, AChildWithTheProofSharesTheMemory) {
  const MemoryFile file = MemoryFile::create("test", kPage);
  const MemoryFile::Proof proof = file.proof();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto opened = MemoryFile::open(proof);
    if (opened) opened->data()[100] = std::byte{9};
    ::_exit(opened ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(file.data()[100], std::byte{9});
  MemoryFile::Proof dead = proof;
  dead.pid = child;
  EXPECT_FALSE(MemoryFile::open(dead).has_value()) << "that process is gone";
}

TEST(MemoryFile, ProofsAreDecodedAsTheyWereEncoded) {
  const MemoryFile file = MemoryFile::create("test", kPage);
  ByteWriter out;
  file.proof().write(out);
  const auto bytes = std::move(out).take();
  ByteReader in(bytes);
  const MemoryFile::Proof proof = MemoryFile::Proof::read(in);
  EXPECT_EQ(proof.pid, ::getpid());
  EXPECT_EQ(proof.descriptor, file.descriptor());
  EXPECT_EQ(proof.size, kPage);
  EXPECT_EQ(proof.nonce, file.proof().nonce);
  ByteReader cut(ByteView(bytes).first(bytes.size() - 1));
  EXPECT_THROW(MemoryFile::Proof::read(cut), Error);
}

TEST(MemoryFile, ReserveAllocatesMemoryAndReleaseFreesIt) {
  const MemoryFile file = MemoryFile::create("test", 1024 * kPage);
  const std::size_t before = memory_of(file);
  file.reserve(100, 0);
  EXPECT_EQ(memory_of(file), before);
  file.reserve(256 * kPage, 512 * kPage);
  EXPECT_EQ(memory_of(file), before + 512 * kPage);
  std::memset(file.data() + 256 * kPage, 5, 512 * kPage);
  file.release(256 * kPage + 1, 512 * kPage - 2);
  EXPECT_EQ(memory_of(file), before + 2 * kPage) << "whole pages inside the range only";
  EXPECT_EQ(file.data()[256 * kPage], std::byte{5});
  EXPECT_EQ(file.data()[257 * kPage], std::byte{0});
  EXPECT_EQ(file.data()[768 * kPage - 1], std::byte{5});
  file.release(0, 0);
}

// More memory than this machine has, but small enough for a sanitizer's address space.
std::size_t absurd_size() {
  return 2 * static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * kPage;
}

TEST(MemoryFile, ShortageIsExhaustedAndKeepsNoMemory) {
  const std::size_t absurd = absurd_size();
  const MemoryFile file = MemoryFile::create("test", absurd);
  const std::size_t before = memory_of(file);
  EXPECT_EQ(code_of([&] { file.reserve(0, absurd); }), ErrorCode::Exhausted);
  EXPECT_EQ(code_of([&] { file.reserve(kPage, absurd - kPage); }), ErrorCode::Exhausted);
  EXPECT_EQ(memory_of(file), before);
  EXPECT_EQ(code_of([&] { file.reserve(absurd, 1); }), ErrorCode::Misuse);
  EXPECT_EQ(code_of([&] { file.reserve(1, SIZE_MAX); }), ErrorCode::Misuse);
}

TEST(MemoryFile, MovesKeepTheMemory) {
  MemoryFile file = MemoryFile::create("test", kPage);
  std::byte* const data = file.data();
  MemoryFile moved = std::move(file);
  EXPECT_EQ(moved.data(), data);
  EXPECT_EQ(file.data(), nullptr);  // NOLINT: moved from, on purpose
  MemoryFile target = MemoryFile::create("other", kPage);
  target = std::move(moved);
  EXPECT_EQ(target.data(), data);
  target.data()[kPage - 1] = std::byte{1};
}

}  // namespace
}  // namespace trireme
