// Goal:   an announced error keeps what the receiving ranks must act on: a Mismatch stays a
//         Mismatch, a lost rank stays lost, and any other error becomes a failure of the reporting
//         rank.
// Method: a round trip of each kind of error.

#include "trireme/comm/announcement.h"

#include <gtest/gtest.h>

namespace trireme::comm {
namespace {

TEST(Announcement, ALossKeepsItsPeer) {
  const Error lost = Error(ErrorCode::PeerLost, "the connection to rank 1 broke").with_peer(1);
  const Error heard = Announcement::of(lost.with_rank(0), 0).to_error();
  EXPECT_EQ(heard.code(), ErrorCode::PeerLost);
  EXPECT_EQ(heard.peer(), 1);
  EXPECT_EQ(heard.message(), "rank 0 says: the connection to rank 1 broke");
}

TEST(Announcement, AMismatchStaysAMismatch) {
  const Error heard =
      Announcement::of(Error(ErrorCode::Mismatch, "8 or 9").with_peer(5), 3).to_error();
  EXPECT_EQ(heard.code(), ErrorCode::Mismatch);
  EXPECT_EQ(heard.peer(), 3);
}

TEST(Announcement, AnyOtherErrorIsAFailureOfTheReportingRank) {
  for (const ErrorCode code : {ErrorCode::Exhausted, ErrorCode::Corrupt, ErrorCode::Protocol}) {
    const Error heard = Announcement::of(Error(code, "no room").with_peer(5), 3).to_error();
    EXPECT_EQ(heard.code(), ErrorCode::RemoteFailure);
    EXPECT_EQ(heard.peer(), 3);
    EXPECT_EQ(heard.message(),
              "rank 3 failed: " + std::string(Error(code, "no room").with_peer(5).what()));
  }
}

TEST(Announcement, KnowsOnlyCodesThatAreAnnounced) {
  EXPECT_TRUE(Announcement::is_known(ErrorCode::PeerLost));
  EXPECT_FALSE(Announcement::is_known(ErrorCode::Deadline));
  EXPECT_FALSE(Announcement::is_known(static_cast<ErrorCode>(4000)));
}

}  // namespace
}  // namespace trireme::comm
