// Goal:   on a terminal the view is redrawn in place at a limited rate; elsewhere lines are printed
//         at a limited rate; the last state is always shown.
// Method: a simulated clock, and a pipe that is read afterwards.

#include "trireme/monitor/live_view.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "trireme/base/file/descriptor.h"
#include "trireme/testing/scoped_variable.h"
#include "trireme/testing/simulated_clock.h"

namespace trireme::monitor {
namespace {

using namespace std::chrono_literals;

class LiveViewTest : public ::testing::Test {
 protected:
  LiveViewTest() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    from_ = Descriptor(ends[0]);
    to_ = Descriptor(ends[1]);
  }
  // Returns what was written since the last call; there must be some output.
  std::string read() {
    char text[65536];
    const ssize_t size = ::read(from_.get(), text, sizeof text);
    return {text, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }
  static int count(const std::string& text, const std::string& what) {
    int count = 0;
    for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
    return count;
  }

  testing::SimulatedClock clock_;
  Descriptor from_, to_;
};

TEST_F(LiveViewTest, ATerminalIsRedrawnInPlaceAtMostTenTimesASecond) {
  LiveView view({.descriptor = to_.get(), .is_terminal = true, .clock = &clock_});
  for (int step = 1; step <= 1000; ++step) {
    view.update({.step = step, .steps = 1000});
    clock_.advance(1ms);
  }
  view.finish();
  const std::string text = read();
  EXPECT_EQ(count(text, "loss"), 11);  // ten within the second, and the last state
  EXPECT_EQ(count(text, "\x1b[2A\r\x1b[J"), 10);
  EXPECT_NE(text.find("1000/1000"), text.npos);
}

TEST_F(LiveViewTest, ALineEverySoManyStepsWhereThatIsWanted) {
  LiveView view({.descriptor = to_.get(), .clock = &clock_});
  view.set_line_steps(40);
  for (int step = 1; step <= 100; ++step) view.update({.step = step});
  view.finish();
  const std::string text = read();
  EXPECT_EQ(count(text, "\n"), 3);
  for (const char* step : {"step 40 ", "step 80 ", "step 100 "}) EXPECT_EQ(count(text, step), 1);
}

TEST_F(LiveViewTest, ElsewhereTheFirstStepsAndThenALineEveryFewSeconds) {
  LiveView view({.descriptor = to_.get(), .clock = &clock_});
  for (int step = 1; step <= 100; ++step) {
    view.update({.step = step});
    clock_.advance(100ms);
  }
  view.finish();
  view.finish();
  const std::string text = read();
  EXPECT_EQ(text.find('\x1b'), text.npos);
  EXPECT_EQ(count(text, "\n"), 5);
  for (const char* step : {"step 1 ", "step 2 ", "step 3 ", "step 53 ", "step 100 "}) {
    EXPECT_EQ(count(text, step), 1) << text;
  }
}

TEST_F(LiveViewTest, NotesStayAboveTheView) {
  LiveView view({.descriptor = to_.get(), .is_terminal = true, .clock = &clock_});
  view.note("begun");
  view.update({.step = 1});
  view.note("accuracy 91 %");
  const std::string text = read();
  EXPECT_EQ(text.find("begun\n"), 0u);
  EXPECT_NE(text.find("\x1b[2A\r\x1b[Jaccuracy 91 %\n1\nloss"), text.npos);
}

TEST_F(LiveViewTest, LinesFitTheWidthOfTheMoment) {
  const testing::ScopedVariable columns("COLUMNS", "30");
  LiveView view({.descriptor = to_.get(), .is_terminal = true, .clock = &clock_});
  view.update({.step = 7, .steps = 1000, .loss = 0.5, .rate = 12345.0, .seconds_left = 65.0});
  std::string text = read();
  EXPECT_NE(text.find("7/1000"), text.npos);
  for (std::size_t at = 0; (at = text.find('\n')) != text.npos; text.erase(0, at + 1)) {
    EXPECT_LT(at, 30u) << text;
  }
}

TEST_F(LiveViewTest, APipeIsNoTerminal) {
  const testing::ScopedVariable terminal("TERM", "xterm");
  EXPECT_FALSE(LiveView::options_for(to_.get()).is_terminal);
  EXPECT_FALSE(LiveView::options_for(to_.get()).has_color);
}

}  // namespace
}  // namespace trireme::monitor
