// Goal:   survivors find out which step a dead rank had prepared, and share its unfinished work;
//         without a ledger nothing is recorded.
// Method: two journals over one arena, one of whose ranks "dies" at each phase; lists of places.

#include "trireme/parallel/data/journal/journal.h"

#include <gmock/gmock.h>

#include "trireme/comm/connect_threads.h"

namespace trireme::parallel::data {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Journal, PreparedFiguresOutliveTheirRank) {
  const auto groups = comm::connect_threads(1);
  Journal dead, living;
  const Ledger::Shape shape{.figures = 2};
  dead.open(groups[0].arena(), 7, shape, 0);
  living.open(groups[0].arena(), 7, shape, 1);
  living.set_places({0, 1});
  dead.begin(4);
  living.begin(4);
  EXPECT_THAT(living.prepared(4), IsEmpty());
  dead.prepare({.step = 4, .figures = {1.5, 2}});
  EXPECT_THAT(living.prepared(4), ElementsAre(1.5, 2));
  EXPECT_THAT(living.prepared(2), IsEmpty());
  dead.finish();
  dead.begin(5);
  EXPECT_THAT(living.prepared(4), ElementsAre(1.5, 2)) << "it has begun the next step";
  dead.set_mark(9);
  EXPECT_EQ(living.last_mark(), 9);
}

TEST(Journal, WithoutALedgerRecordsNothing) {
  Journal journal;
  journal.set_places({0});
  journal.begin(1);
  journal.prepare({.step = 1, .figures = {1}});
  journal.finish();
  EXPECT_FALSE(journal.is_open());
  EXPECT_THAT(journal.prepared(1), IsEmpty());
  EXPECT_EQ(journal.last_mark(), 0);
}

TEST(Journal, SurvivorsShareTheWorkOfFailedRanks) {
  using Places = std::vector<int>;
  EXPECT_THAT(successors_of(Places{3, 5, 7}, Places{3, 5, 7}), ElementsAre(3, 5, 7));
  EXPECT_THAT(successors_of(Places{3, 5, 7, 9}, Places{5, 9}), ElementsAre(5, 5, 9, 9));
  EXPECT_THAT(successors_of(Places{3, 5}, Places{5, 8}), ElementsAre(5, 5))
      << "a rank that joined since does not know the step";
}

}  // namespace
}  // namespace trireme::parallel::data
