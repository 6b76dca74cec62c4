// Goal:   a job with several tasks trains alike on any ranks, and says how good each task is.
// Method: tiny images on threads; figures of an evaluation against all answers at once; sources
//         read one by one.

#include <gtest/gtest.h>

#include "tests/train/tiny_job.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/model/loss/multitask_loss.h"
#include "trireme/train/evaluate/evaluation.h"

namespace trireme::train {
namespace {

config::Config tasks_config(const Words& more = {}) {
  Words words{
      "model.kind=multitask",          "model.hidden_sizes=[6]", "model.channels=[2]",
      "model.kernel_size=3",           "data.task=images",       "data.sizes=[1, 8, 8]",
      "data.class_groups=[0,1,1,0,2]", "data.input_mean=true",   "model.weighting=uncertainty"};
  words.insert(words.end(), more.begin(), more.end());
  return config::read_config(
      recipe_schema(tiny_kinds()),
      {.files = {{"tiny.toml",
                  "[data]\nkind = \"synthetic\"\ncount = 37\ntest_count = 11\n"
                  "classes = 5\n[train]\nglobal_batch_size = 10\nnum_threads = 1\nsteps = 20\n"
                  "[sync]\nbucket_size = \"1 KiB\"\n"}},
       .overrides = words});
}

TEST(TasksOfASample, AreClassGroupAndMean) {
  const data::Sets sets = tiny_kinds().data.open(tasks_config());
  const data::Sets plain =
      tiny_kinds().data.open(tasks_config({"data.class_groups=[]", "data.input_mean=false"}));
  ASSERT_EQ(sets.train->form().target_count(), 3);
  const std::vector<float> groups{0, 1, 1, 0, 2};
  for (std::int64_t i = 0; i < sets.train->count(); ++i) {
    at::Tensor x = at::empty({64}), y = at::empty({3}), label = at::empty({1}, at::kLong);
    sets.train->read(i, {}, x.data_ptr(), y.data_ptr());
    plain.train->read(i, {}, x.data_ptr(), label.data_ptr());
    EXPECT_EQ(y[0].item<float>(), label.item<float>());
    EXPECT_EQ(y[1].item<float>(), groups[static_cast<std::size_t>(label.item<std::int64_t>())]);
    EXPECT_NEAR(y[2].item<float>(), x.mean().item<float>(), 1e-5);
  }
  EXPECT_THROW(tiny_kinds().data.open(tasks_config({"data.class_groups=[0,1]"})), Error);
}

TEST(TasksOnRanks, EndAlikeAndAreScoredOneByOne) {
  const config::Config config = tasks_config({"train.logical_ranks=2"});
  std::vector<std::pair<std::string, double>> figures;
  const auto look = [&](Job& job) {
    const Scores scores =
        evaluate(*job.model,
                 {.source = job.sets.test, .loss = job.loss.get(), .batch = 4, .group = job.group});
    if (job.group.rank() == 0 && job.group.size() == 1) figures = scores.task_figures();
    if (job.group.rank() > 0) return;
    const at::NoGradGuard no_grad;
    at::Tensor x = at::empty({11, 1, 8, 8}), y = at::empty({11, 3});
    for (std::int64_t i = 0; i < 11; ++i) {
      job.sets.test->read(i, {}, x[i].data_ptr(), y[i].data_ptr());
    }
    const at::Tensor out = job.model->forward(x, {});
    const auto right = [&](std::int64_t from, std::int64_t count, std::int64_t task) {
      return out.narrow(1, from, count).argmax(1).eq(y.select(1, task)).sum().item<double>() / 11;
    };
    const auto all = scores.task_figures();
    ASSERT_EQ(all.size(), 7U);
    EXPECT_EQ(all[1].first, "class_accuracy");
    EXPECT_NEAR(all[1].second, right(0, 5, 0), 1e-12);
    EXPECT_NEAR(all[3].second, right(5, 3, 1), 1e-12);
    EXPECT_EQ(all[5].first, "mean_mae");
    EXPECT_NEAR(all[5].second, (out.select(1, 8) - y.select(1, 2)).abs().mean().item<double>(),
                1e-6);
    EXPECT_NEAR(scores.loss(), job.loss->sum(out, y).item<double>() / 11, 1e-5);
  };
  const Trained one = train_threads(config, 1, 5, tiny_kinds(), look);
  expect_same_bits(one, train_threads(config, 2, 5, tiny_kinds(), look), "two ranks");
  EXPECT_LT(one.losses.back(), one.losses.front());
}

TEST(TasksOfATable, EndAlikeOnRanksAndAreScored) {
  const TemporaryFolder folder("tasks");
  std::string table = "colour,x,kind,price\n";
  for (int i = 0; i < 60; ++i) {
    table += (i % 3 == 0 ? "red," : "blue,") + std::to_string(i % 7) +
             (i % 3 == 0 ? ",hot,0." : ",cold,0.") + std::to_string(i % 7) + "\n";
  }
  write_file_atomically(folder.path() / "t.csv", table);
  const auto config_of = [&](const char* how) {
    return config::read_config(
        recipe_schema(tiny_kinds()),
        {.files =
             {{"table.toml",
               "[model]\nkind = \"multitask\"\nhidden_sizes = [16]\n[data]\nkind = \"csv\"\n"
               "categories = [\"colour\"]\ntargets = [\"kind\", \"price\"]\n"
               "class_targets = [\"kind\"]\ntask = \"multitask\"\n"
               "[train]\nglobal_batch_size = 12\nnum_threads = 1\nsteps = 60\nlogical_ranks = 2\n"
               "[optim]\nlr = 0.02\n"}},
         .overrides = {"data.train=" + (folder.path() / "t.csv").string(), how}});
  };
  const auto config = config_of("sync.kind=all_reduce");
  Job job = open_job(config, tiny_kinds());
  for (int step = 0; step < 60; ++step) job.step->run(step);
  const auto figures =
      evaluate(*job.model, {.source = job.sets.test, .loss = job.loss.get(), .batch = 4})
          .task_figures();
  ASSERT_EQ(figures.size(), 5U);
  EXPECT_EQ(figures[1].first, "kind_accuracy");
  EXPECT_EQ(figures[1].second, 1.0) << "red is hot";
  EXPECT_EQ(figures[3].first, "price_mae");
  EXPECT_LT(figures[3].second, 0.1);
  const Trained one = train_threads(config, 1, 5);
  for (const char* how : {"sync.kind=all_reduce", "sync.kind=shared", "sync.kind=zero3"}) {
    expect_same_bits(one, train_threads(config_of(how), 2, 5), how);
  }
}

TEST(TasksOfASample, NeedTheModelForThem) {
  EXPECT_THROW(open_job(tasks_config({"loss.kind=mse"}), tiny_kinds()), Error);
  EXPECT_THROW(open_job(tasks_config({"eval.metric=mae"}), tiny_kinds()), Error);
  EXPECT_THROW(open_job(tiny_config("mlp", {"data.input_mean=true"}), tiny_kinds()), Error);
}

}  // namespace
}  // namespace trireme::train
