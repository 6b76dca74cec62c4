// Goal:   the advice after a divergence names a checkpoint only if continuing from it can help.
// Method: the text for every combination of checkpoints.

#include "trireme/train/non_finite_policy.h"

#include <gmock/gmock.h>

#include "tests/train/tiny_job.h"

namespace trireme::train {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

TEST(Divergence, ACheckpointHelpsIfAnUpdateFollowsBeforeTheFailure) {
  EXPECT_EQ(Divergence::last_helpful(4), 2) << "step 3 makes an update, then step 4 is run";
}

TEST(Divergence, TheAdviceNamesTheCheckpointThatHelps) {
  const config::Config config = tiny_config("mlp", {"optim.lr=9.0"});
  const auto advice = [&](std::optional<std::int64_t> newest, std::optional<std::int64_t> helpful) {
    return Divergence{.first_step = 4, .newest = newest, .helpful = helpful}.advice(config);
  };
  EXPECT_THAT(advice(2, 2),
              StartsWith("The last checkpoint is of step 2. Continue from it with a lower "
                         "optim.lr (it is 9.0), "));
  EXPECT_THAT(advice(3, 2), StartsWith("The last checkpoint is of step 3 and leads to the same "
                                       "weights in step 4. Continue from that of step 2 with "));
  EXPECT_THAT(advice(3, 2), EndsWith("before that checkpoint, begin a new job"));
  EXPECT_THAT(
      advice(3, {}),
      StartsWith("The last checkpoint is of step 3 and leads to the same weights in step 4, "
                 "and there is no earlier one. Begin a new job with "));
  EXPECT_THAT(advice({}, {}), StartsWith("There is no checkpoint. Begin again with "));
}

}  // namespace
}  // namespace trireme::train
