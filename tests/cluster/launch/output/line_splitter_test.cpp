// Goal:   lines are complete and unchanged however the bytes arrive, memory is bounded, and
//         progress bars work on a terminal.
// Method: the same text divided into two and into many pieces in all ways; bytes of every value;
//         redraws with times passed by the test.

#include "trireme/cluster/launch/output/line_splitter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <vector>

namespace trireme::cluster::launch::output {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

const TimePoint kStart{1000s};

LineSplitter::Sink into(Lines& lines) {
  return [&lines](std::string_view line) { lines.emplace_back(line); };
}

Lines split(const std::vector<std::string>& pieces, LineSplitter::Options options = {}) {
  Lines lines;
  LineSplitter splitter(options);
  for (const std::string& piece : pieces) splitter.feed(piece, kStart, into(lines));
  splitter.finish(into(lines));
  return lines;
}

TEST(LineSplitter, NoBytesGiveNoLine) {
  EXPECT_EQ(split({}), Lines{});
  EXPECT_EQ(split({""}), Lines{});
}

TEST(LineSplitter, LinesDoNotDependOnHowBytesAreDivided) {
  const std::string text = "one\n\ntwo two\r\nthree\rmore\nlast";
  const Lines plain{"one", "", "two two\r", "three\rmore", "last"};
  const Lines redrawn{"one", "", "two two", "three", "more", "last"};
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(split({text.substr(0, cut), text.substr(cut)}), plain) << cut;
    EXPECT_EQ(split({text.substr(0, cut), text.substr(cut)}, {.redraw_period = 1s}), redrawn)
        << cut;
  }
  std::vector<std::string> bytes;
  for (char c : text) bytes.emplace_back(1, c);
  EXPECT_EQ(split(bytes), plain);
  EXPECT_EQ(split(bytes, {.redraw_period = 1s}), redrawn);
}

TEST(LineSplitter, EveryByteIsKept) {
  std::string text(256, '\0');
  std::iota(text.begin(), text.end(), '\0');
  std::string joined;
  Lines lines = split({text});
  for (std::size_t i = 0; i < lines.size(); ++i) joined += (i > 0 ? "\n" : "") + lines[i];
  EXPECT_EQ(joined, text);
}

TEST(LineSplitter, LongLinesAreSplit) {
  const LineSplitter::Options options{.line_max = 4};
  EXPECT_EQ(split({"abcd\n"}, options), (Lines{"abcd"}));
  EXPECT_EQ(split({"abcde\n"}, options), (Lines{"abcd", "e"}));
  EXPECT_EQ(split({"abcdefgh"}, options), (Lines{"abcd", "efgh"}));
  EXPECT_EQ(split({"ab", "cd", "\n", "x"}, options), (Lines{"abcd", "x"}));
  LineSplitter splitter(options);
  Lines lines;
  for (int i = 0; i < 1000; ++i) {
    splitter.feed("xyz", kStart, into(lines));
    EXPECT_LE(splitter.partial().size(), 4u);
  }
}

TEST(LineSplitter, RedrawsAreShownAtMostOncePerPeriod) {
  LineSplitter splitter({.redraw_period = 500ms});
  Lines lines;
  splitter.feed("\r 1%", kStart, into(lines));
  splitter.feed("\r 2%", kStart + 10ms, into(lines));
  splitter.feed("\r 3%", kStart + 20ms, into(lines));
  EXPECT_EQ(lines, (Lines{" 1%"}));
  splitter.feed("\r 4%", kStart + 600ms, into(lines));
  EXPECT_EQ(lines, (Lines{" 1%", " 3%"}));
  splitter.feed("\r100%\n", kStart + 610ms, into(lines));
  EXPECT_EQ(lines, (Lines{" 1%", " 3%", "100%"}));
}

TEST(LineSplitter, TheLastRedrawIsNeverLost) {
  LineSplitter splitter({.redraw_period = 500ms});
  Lines lines;
  splitter.feed("1%\r2%\r3%\r\nnext\n", kStart, into(lines));
  EXPECT_EQ(lines, (Lines{"1%", "3%", "next"}));
  lines.clear();
  splitter.feed("8%\r9%\r", kStart + 1ms, into(lines));
  splitter.finish(into(lines));
  EXPECT_EQ(lines, (Lines{"9%"}));
}

}  // namespace
}  // namespace trireme::cluster::launch::output
