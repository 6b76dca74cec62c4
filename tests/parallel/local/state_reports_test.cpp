// Goal:   every rank of a new group knows which ranks have the state, and their numbers.
// Method: three ranks as threads, of which two have a state.

#include "trireme/parallel/local/state_reports.h"

#include "tests/parallel/local/round/one_weight.h"

namespace trireme::parallel::local {
namespace {

TEST(StateReports, TellWhoHasTheState) {
  on_ranks(3, [](const comm::Group& group) {
    const std::int64_t mine[] = {10 + group.rank(), 20 + group.rank()};
    const StateReports some = StateReports::exchange(group, group.rank() > 0, mine);
    ASSERT_EQ(some.ranks(), 3);
    EXPECT_FALSE(some.have_all_state());
    EXPECT_EQ(some.source(), 1);
    EXPECT_EQ(some.numbers(2)[0], 12);
    EXPECT_EQ(some.numbers(2)[1], 22);
    EXPECT_TRUE(StateReports::exchange(group, true, mine).have_all_state());
    EXPECT_EQ(StateReports::exchange(group, false, {}).source(), 0) << "no rank has a state";
  });
}

}  // namespace
}  // namespace trireme::parallel::local
