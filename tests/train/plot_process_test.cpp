// Goal:   `trireme plot` of a trained job gives all of its pictures with one command.
// Method: the real programs: a tiny job of classes and a tiny gan, trained and drawn.

#include "tests/train/process_fixture.h"
#include "trireme/base/build_info.h"

namespace trireme::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PlotProcess : public TrainProcess {};

TEST_F(PlotProcess, DrawsTheMatrixOfTheNewestCheckpoint) {
  ASSERT_EQ(train("job", {"train.steps=4"}).code, 0);
  const Ran curves = run({"plot", at("job").string(), "--curves"});
  EXPECT_EQ(curves.code, 0) << curves.error;
  EXPECT_THAT(curves.out, AllOf(HasSubstr("loss.svg"), Not(HasSubstr("confusion.svg"))));
  const Ran all = run({"plot", at("job").string()});
  EXPECT_EQ(all.code, 0) << all.error;
  EXPECT_THAT(all.out, HasSubstr("confusion.svg"));
  EXPECT_THAT(read_file(at("job") / "evaluation.json"), HasSubstr("\"step\":4"));
}

TEST_F(PlotProcess, DrawsWhatAGanMakes) {
  bool has_png = false;
  for (const base::BuildPart& part : base::build_info().parts) {
    has_png |= part.name == "png" && part.is_on();
  }
  if (!has_png) GTEST_SKIP() << "this build has no libpng";
  write_file_atomically(
      recipe(),
      "[model]\nkind = \"gan\"\nlatent_size = 3\nbase_channels = 2\n"
      "[data]\nkind = \"synthetic\"\ncount = 20\ntest_count = 4\nclasses = 3\n"
      "task = \"images\"\nsizes = [1, 8, 8]\n[train]\nglobal_batch_size = 10\nsteps = 2\n"
      "[optim]\nkind = \"adam\"\n[optim.second]\nkind = \"sgd\"\n"
      "names = [\"discriminator.*\"]\n");
  ASSERT_EQ(train("gan", {"-n", "2"}).code, 0);
  const Ran all = run({"plot", at("gan").string()});
  EXPECT_EQ(all.code, 0) << all.error;
  EXPECT_THAT(all.out, AllOf(HasSubstr("samples.svg"), Not(HasSubstr("confusion.svg"))));
  EXPECT_THAT(read_file(at("gan") / "plots/samples.svg"), HasSubstr("Samples of step 2"));
}

}  // namespace
}  // namespace trireme::train
