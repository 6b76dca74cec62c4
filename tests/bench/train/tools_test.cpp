// Goal:   one rank is started directly, several ranks by `trireme run`, and peers without binding;
//         the error for a missing program says how to get it.
// Method: command lines for tools that consist of names only.

#include "bench/train/entrant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::bench::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

const TrainTools kAll{{"/b/trireme", "/b/namespaces.sh", true}, "/b/rank", "/b/peer"};

Entrant entrant(const std::string& who, int ranks) {
  Entrant result{who, {}};
  result.options.ranks = ranks;
  return result;
}

Words first(const Words& words, std::size_t count) {
  return {words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count)};
}

TEST(TrainTools, OneRankNeedsNoLauncher) {
  EXPECT_EQ(kAll.program_of(entrant(kOurs, 1)).words[0], "/b/rank");
  EXPECT_EQ(kAll.program_of(entrant(kPyTorch, 1)).words[0], "/b/peer");
}

TEST(TrainTools, SeveralRanksAreStartedByTriremeRun) {
  EXPECT_THAT(first(kAll.program_of(entrant(kOurs, 3)).words, 6),
              ElementsAre("/b/trireme", "run", "-n", "3", "--", "/b/rank"));
  EXPECT_THAT(first(kAll.program_of(entrant(kPyTorch, 3)).words, 8),
              ElementsAre("/b/trireme", "run", "-n", "3", "--bind", "none", "--", "/b/peer"));
}

TEST(TrainTools, TwoRanksRunOverAWire) {
  for (const std::string who : {kOurs, kPyTorch}) {
    Entrant wired = entrant(who, 2);
    wired.options.wire = 1e9;
    EXPECT_THAT(first(kAll.program_of(wired).words, 5),
                ElementsAre("/b/namespaces.sh", "--each", "1", "1000000000",
                            who == kOurs ? "/b/rank" : "/b/peer"));
    TrainTools user = kAll;
    user.launch.is_root = false;
    EXPECT_THAT(user.why_not(wired), HasSubstr("root"));
    EXPECT_EQ(user.why_not(entrant(who, 2)), "");
  }
}

TEST(TrainTools, AMissingProgramIsReported) {
  const TrainTools none{{"/b/trireme", "", false}, "", ""};
  EXPECT_THAT(none.why_not(entrant(kOurs, 1)), HasSubstr("/b/trireme"));
  EXPECT_THAT(none.why_not(entrant(kPyTorch, 1)), HasSubstr("make setup"));
  EXPECT_THROW(none.program_of(entrant(kPyTorch, 1)), Error);
  EXPECT_EQ(kAll.why_not(entrant(kOurs, 1)), "");
}

}  // namespace
}  // namespace trireme::bench::train
