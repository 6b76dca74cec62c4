// Goal:   colours and redrawing are for terminals that can show them; NO_COLOR, TERM and COLUMNS
//         are respected.
// Method: a pipe and a pseudo-terminal of a known width, under several environments.

#include "trireme/base/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "trireme/base/file/descriptor.h"
#include "trireme/testing/scoped_variable.h"

namespace trireme {
namespace {

using testing::ScopedVariable;

class TerminalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    terminal_ = Descriptor(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!terminal_) GTEST_SKIP() << "this machine has no pseudo-terminals";
    set_width(132);
  }
  void set_width(unsigned short columns) const {
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ASSERT_EQ(::ioctl(terminal_.get(), TIOCSWINSZ, &size), 0);
  }
  Terminal seen() const { return terminal_at(terminal_.get()); }

  ScopedVariable kind_{"TERM", "xterm"};
  ScopedVariable no_color_{"NO_COLOR", std::nullopt};
  ScopedVariable columns_{"COLUMNS", std::nullopt};
  Descriptor terminal_;
};

TEST_F(TerminalTest, APipeGetsPlainText) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor in(ends[0]), out(ends[1]);
  EXPECT_FALSE(terminal_at(out.get()).is_terminal);
  EXPECT_FALSE(terminal_at(out.get()).has_color);
  EXPECT_EQ(terminal_at(out.get()).width, kWidthUnknown);
  columns_.set("50");
  EXPECT_EQ(terminal_at(out.get()).width, 50);
}

TEST_F(TerminalTest, NoColorTurnsOnlyColoursOff) {
  EXPECT_TRUE(seen().is_terminal);
  EXPECT_TRUE(seen().has_color);
  no_color_.set("1");
  EXPECT_TRUE(seen().is_terminal);
  EXPECT_FALSE(seen().has_color);
  no_color_.set("");
  EXPECT_TRUE(seen().has_color) << "an empty NO_COLOR counts as not set";
}

TEST_F(TerminalTest, ADumbTerminalGetsPlainText) {
  kind_.set("dumb");
  EXPECT_FALSE(seen().is_terminal);
  kind_.set(std::nullopt);
  EXPECT_FALSE(seen().is_terminal);
  EXPECT_FALSE(seen().has_color);
}

TEST_F(TerminalTest, ColumnsMakesTheWidthSmallerOrSaysIt) {
  EXPECT_EQ(seen().width, 132);
  columns_.set("60");
  EXPECT_EQ(seen().width, 60);
  columns_.set("500");
  EXPECT_EQ(seen().width, 132);
  for (const char* nonsense : {"", "0", "-5", "wide", "60x", "99999999999999999999"}) {
    columns_.set(nonsense);
    EXPECT_EQ(seen().width, 132) << nonsense;
  }
  set_width(0);
  EXPECT_EQ(seen().width, kWidthUnknown);
  columns_.set("60");
  EXPECT_EQ(seen().width, 60);
}

}  // namespace
}  // namespace trireme
