// Goal:   a shell reads a quoted word as one word with its original content.
// Method: words written by hand.

#include "trireme/base/text/shell_word.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(ShellWord, QuotesOnlyWordsWithSpecialCharacters) {
  EXPECT_EQ(shell_word("model.hidden_sizes=[8, 8]"), "'model.hidden_sizes=[8, 8]'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("~/a"), "'~/a'");
  EXPECT_EQ(shell_word("optim.lr=1e-3"), "optim.lr=1e-3");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace trireme
