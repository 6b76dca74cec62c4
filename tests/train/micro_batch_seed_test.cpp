// Goal:   what a wrapped module draws from torch's generator, first weights and dropout, is a
//         function of train.seed, the update and the micro-batch.
// Method: a module of LibTorch's own layers trained twice, with torch's generator disturbed on the
//         way, and by a job that goes on where another stopped.

#include "trireme/train/micro_batch_seed.h"

#include "tests/train/tiny_job.h"
#include "trireme/model/wrap.h"

namespace trireme::train {
namespace {

struct DrawingConfig {
  static void describe(config::Fields<DrawingConfig>&) {}
};

Kinds drawing_kinds() {
  Kinds kinds = tiny_kinds();
  kinds.models.add<DrawingConfig>("drawing", "", [](const auto&, const model::Facts& facts) {
    return model::wrap(torch::nn::Sequential(torch::nn::Linear(facts.form.input_count(), 16),
                                             torch::nn::Dropout(0.5),
                                             torch::nn::Linear(16, facts.form.classes)));
  });
  return kinds;
}

config::Config drawing(const Words& more) {
  const std::string recipe =
      "[model]\nkind = \"drawing\"\n[data]\nkind = \"synthetic\"\ntask = \"classification\"\n"
      "sizes = [6]\nclasses = 5\ncount = 37\n[train]\nglobal_batch_size = 10\nnum_threads = "
      "1\nsteps = 20\n";
  return config::read_config(recipe_schema(drawing_kinds()),
                             {.files = {{"drawing.toml", recipe}}, .overrides = more});
}

TEST(MicroBatchSeed, DiffersBySeedUpdateAndMicroBatch) {
  std::set<std::uint64_t> all;
  for (const std::uint64_t seed : {0, 1, 2}) {
    for (const std::int64_t updates : {0, 1, 1000}) {
      for (const int micro_batch : {0, 1, 7})
        all.insert(micro_batch_seed(seed, updates, micro_batch));
    }
  }
  EXPECT_EQ(all.size(), 27U);
  EXPECT_EQ(micro_batch_seed(1, 2, 3), micro_batch_seed(1, 2, 3));
}

TEST(MicroBatchSeed, AWrappedModuleBeginsAndDrawsByTheSeed) {
  const auto trained = [](const Words& more) {
    torch::rand({7});  // puts torch's generator into another state
    return train_threads(drawing(more), 1, 6, drawing_kinds());
  };
  const Trained once = trained({});
  const Trained again = trained({});
  EXPECT_EQ(once.losses, again.losses);
  expect_same_bits(once, again, "the same seed");
  EXPECT_NE(once.losses, trained({"train.seed=2"}).losses);
}

TEST(MicroBatchSeed, AJobThatGoesOnDrawsAsOneThatNeverStopped) {
  at::set_num_threads(1);
  const config::Config config = drawing({"optim.kind=sgd", "optim.momentum=0"});
  Job whole = open_job(config, drawing_kinds());
  for (int step = 0; step < 3; ++step) whole.step->run(step);
  Job later = open_job(config, drawing_kinds());
  {
    const torch::NoGradGuard no_grad;
    const auto from = whole.model->named_parameters();
    for (auto& item : later.model->named_parameters()) item.value().copy_(from[item.key()]);
  }
  later.loader().seek(whole.loader().position());
  torch::rand({3});
  const double wanted = whole.step->run(3).loss;
  torch::rand({5});
  EXPECT_EQ(later.step->run(3).loss, wanted);
}

}  // namespace
}  // namespace trireme::train
