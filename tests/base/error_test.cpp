// Goal:   an Error reports all its fields, and every code has a name.
// Method: compare complete texts; check every code.

#include "trireme/base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <string>

namespace trireme {
namespace {

TEST(Error, ReportsOnlyTheFieldsThatAreSet) {
  const Error error(ErrorCode::Io, "the disk refused");
  EXPECT_STREQ(error.what(), "the disk refused [Io]");
  EXPECT_EQ(error.message(), "the disk refused");
  EXPECT_FALSE(error.rank().has_value());
  EXPECT_FALSE(error.peer().has_value());
  EXPECT_EQ(error.operation(), "");
  EXPECT_EQ(error.cause(), "");
}

TEST(Error, ReportsRankOperationPeerAndCauseInThatOrder) {
  const Error error = Error(ErrorCode::PeerLost, "closed the connection")
                          .with_cause("out of memory")
                          .with_peer(3)
                          .with_operation("all_reduce")
                          .with_rank(2);
  EXPECT_STREQ(error.what(),
               "rank 2: all_reduce: peer 3: closed the connection [PeerLost] "
               "(cause: out of memory)");
  EXPECT_EQ(error.rank(), 2);
  EXPECT_EQ(error.peer(), 3);
  EXPECT_EQ(error.operation(), "all_reduce");
  EXPECT_EQ(error.cause(), "out of memory");
}

TEST(Error, CopiesAreIndependent) {
  const Error first(ErrorCode::Deadline, "late");
  const Error second = first.with_rank(0);
  EXPECT_STREQ(first.what(), "late [Deadline]");
  EXPECT_STREQ(second.what(), "rank 0: late [Deadline]");
}

TEST(Error, IsCaughtAsAStandardException) {
  try {
    throw Error(ErrorCode::Corrupt, "bad checksum");
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "bad checksum [Corrupt]");
  }
}

TEST(Error, EveryCodeHasItsOwnName) {
  std::set<std::string_view> names;
  for (int i = 0; i < kErrorCodeCount; ++i) {
    names.insert(name_of(static_cast<ErrorCode>(i)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kErrorCodeCount));
}

TEST(SystemError, DistinguishesShortageFromRefusal) {
  for (int shortage : {ENOSPC, EDQUOT, ENOMEM, EMFILE, ENFILE}) {
    EXPECT_EQ(system_error("writing", shortage).code(), ErrorCode::Exhausted) << shortage;
  }
  for (int refusal : {EACCES, EIO, EPERM, EROFS}) {
    EXPECT_EQ(system_error("writing", refusal).code(), ErrorCode::Io) << refusal;
  }
  EXPECT_EQ(system_error("writing x", EACCES).message(), "writing x: Permission denied");
}

}  // namespace
}  // namespace trireme
