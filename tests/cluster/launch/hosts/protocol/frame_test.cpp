// Goal:   frames are decoded however their bytes are divided, and foreign bytes are refused.
// Method: handwritten values, byte by byte.

#include "trireme/cluster/launch/hosts/protocol/frame.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::cluster::launch::hosts {
namespace {

TEST(AgentFrame, IsDecodedHoweverItsBytesAreDivided) {
  const std::string stream = encode_frame(LaunchFrameKind::Beat) +
                             encode_frame(LaunchFrameKind::Output, bytes_of("hello")) +
                             encode_frame(LaunchFrameKind::End);
  LaunchFrameReader reader;
  std::vector<LaunchFrame> frames;
  for (const char byte : stream) {
    reader.feed({&byte, 1});
    while (auto frame = reader.next()) frames.push_back(*std::move(frame));
  }
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].kind, LaunchFrameKind::Beat);
  EXPECT_EQ(frames[1].kind, LaunchFrameKind::Output);
  EXPECT_EQ(text_of(frames[1].payload), "hello");
  EXPECT_EQ(frames[2].kind, LaunchFrameKind::End);
  EXPECT_TRUE(reader.is_empty());
}

TEST(AgentFrame, SeveralFramesAreReadInOrder) {
  std::string stream;
  constexpr int kCount = 20000;
  for (int i = 0; i < kCount; ++i) {
    stream += encode_frame(LaunchFrameKind::Output, bytes_of(std::to_string(i)));
  }
  LaunchFrameReader reader;
  reader.feed(stream);
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(text_of(reader.next()->payload), std::to_string(i));
  EXPECT_FALSE(reader.next().has_value());
}

TEST(AgentFrame, RefusesForeignBytes) {
  LaunchFrameReader text;
  text.feed("Welcome to node7\n");
  EXPECT_THROW(text.next(), Error);
  LaunchFrameReader large;
  large.feed(std::string("\xff\xff\xff\x7f\x01", 5));
  EXPECT_THROW(large.next(), Error);
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
