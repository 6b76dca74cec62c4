// Goal:   models that answer together are scored as one model with their answers would be, each
//         beside it as it is alone; two are compared sample by sample; jobs with other questions
//         are refused, and what was trained is found again.
// Method: tiny jobs of several seeds, against torch over all samples at once.

#include "trireme/train/evaluate/panel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "tests/train/trainer_fixture.h"
#include "trireme/base/error.h"
#include "trireme/model/wrap.h"
#include "trireme/train/evaluate/answers.h"
#include "trireme/train/evaluate/bleu.h"
#include "trireme/train/evaluate/ensemble.h"
#include "trireme/train/evaluate/evaluation.h"
#include "trireme/train/evaluate/prediction.h"
#include "trireme/train/evaluate/significance.h"
#include "trireme/train/evaluate/tally.h"
#include "trireme/train/evaluate/trained_model.h"

namespace trireme::train {
namespace {

class PanelOfModels : public TrainerTest {
 protected:
  // Trained for a few steps from several seeds, on the same data.
  void open(int count, const Words& more = {}) {
    for (int seed = 1; seed <= count; ++seed) {
      Words words{"train.seed=" + std::to_string(seed), "data.test_count=40"};
      words.insert(words.end(), more.begin(), more.end());
      jobs_.push_back(open_job(tiny_config("mlp", words), tiny_kinds()));
      for (int step = 0; step < 15; ++step) jobs_.back().step->run(step);
    }
  }
  std::vector<PanelMember> members() const {
    std::vector<PanelMember> all;
    for (const Job& job : jobs_) all.push_back({job.model, job.sets.test});
    return all;
  }
  PanelOptions options() const { return {.loss = jobs_.front().loss.get(), .batch = 7}; }
  Scores alone(const Job& job) const {
    return evaluate(*job.model, {.source = job.sets.test, .loss = job.loss.get(), .batch = 7});
  }
  // (M, N, C) and (N)
  std::pair<at::Tensor, at::Tensor> all_answers() const {
    std::vector<at::Tensor> outputs;
    std::vector<at::Tensor> targets;
    ask_panel(members(), {.batch = 1000}, [&](const PanelAnswers& answers) {
      outputs.push_back(at::stack(answers.outputs));
      targets.push_back(answers.batch.target.clone());
    });
    return {outputs.at(0), targets.at(0)};
  }

  std::vector<Job> jobs_;
};

TEST_F(PanelOfModels, AverageIsThatOfAllAnswersAndMembersAreThemselves) {
  open(3);
  const auto [outputs, truth] = all_answers();
  const at::Tensor share = outputs.softmax(-1).mean(0);
  const EnsembleScores scores = score_ensemble(members(), Blend::Average, options());
  EXPECT_EQ(scores.samples, 40);
  EXPECT_NEAR(scores.ensemble.loss(), at::nll_loss(share.log(), truth).item<double>(), 1e-5);
  EXPECT_NEAR(scores.ensemble.accuracy(),
              share.argmax(-1).eq(truth).to(at::kDouble).mean().item<double>(), 1e-12);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    EXPECT_EQ(scores.members[i].loss(), alone(jobs_[i]).loss());
    EXPECT_EQ(scores.members[i].accuracy(), alone(jobs_[i]).accuracy());
  }
}

TEST_F(PanelOfModels, AStackIsReportedOnWhatItWasNotFittedOn) {
  open(2);
  const EnsembleScores scores = score_ensemble(members(), Blend::Stack, options());
  EXPECT_LT(scores.samples, 40);
  EXPECT_EQ(scores.ensemble.answers(), scores.samples);
  EXPECT_EQ(scores.weights.size(), 2U);
  EXPECT_TRUE(std::isfinite(scores.ensemble.loss()));
  EXPECT_EQ(score_ensemble(members(), Blend::Vote, options()).samples, 40);
}

TEST_F(PanelOfModels, ADifferenceIsOfPairs) {
  open(2);
  const ModelComparison found = compare_models(members()[0], members()[1], options());
  const auto [outputs, truth] = all_answers();
  const at::Tensor right = outputs.argmax(-1).eq(truth);
  EXPECT_EQ(found.answers->only_first,
            right[0].logical_and(right[1].logical_not()).sum().item<std::int64_t>());
  EXPECT_NEAR(found.loss.mean, found.first.loss() - found.second.loss(), 1e-6);
  EXPECT_LE(found.loss.low, found.loss.mean);
  const ModelComparison none = compare_models(members()[0], members()[0], options());
  EXPECT_EQ(none.answers->p, 1);
  EXPECT_EQ(none.loss.high, 0);
}

TEST_F(PanelOfModels, NumbersAreAveragedAndNotVotedOn) {
  open(2, {"data.task=regression"});
  const EnsembleScores scores = score_ensemble(members(), Blend::Average, options());
  EXPECT_LE(scores.ensemble.loss(), (scores.members[0].loss() + scores.members[1].loss()) / 2);
  EXPECT_THROW(score_ensemble(members(), Blend::Vote, options()), Error);
  EXPECT_FALSE(compare_models(members()[0], members()[1], options()).answers.has_value());
}

TEST_F(PanelOfModels, OtherQuestionsAreRefused) {
  open(1);
  jobs_.push_back(
      open_job(tiny_config("mlp", {"data.test_count=40", "data.seed=9"}), tiny_kinds()));
  EXPECT_THROW(score_ensemble(members(), Blend::Average, options()), Error);
  jobs_.back() = open_job(tiny_config("mlp", {"data.test_count=41"}), tiny_kinds());
  EXPECT_THROW(score_ensemble(members(), Blend::Average, options()), Error);
}

int eval_with(Words words) {
  words.insert(words.begin(), "eval");
  return answer_eval(WorkerWords(words), tiny_kinds());
}

TEST_F(PanelOfModels, SnapshotsAndOtherJobsAreFound) {
  const Words often{"train.steps=4", "checkpoint.every=2", "checkpoint.keep=3"};
  const Words other{"train.steps=4", "train.seed=2"};
  run("one", often);
  run("two", other);
  write_file_atomically(at("one") / "config.toml", tiny_config("mlp", often).to_toml());
  write_file_atomically(at("two") / "config.toml", tiny_config("mlp", other).to_toml());
  const std::string one = at("one").string(), two = at("two").string();
  EXPECT_EQ(last_steps(at("one"), 2), (std::vector<std::int64_t>{4, 2}));
  EXPECT_THROW(last_steps(at("one"), 9), Error);
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(eval_with({"--output", one, "--snapshots", "2", "--with", two, "--json"}), 0);
  EXPECT_EQ(eval_with({"--output", one, "--against", two}), 0);
  const std::string out = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(out.find("{\"ensemble\":{\"ensemble\":\"average\",\"members\":3"), std::string::npos);
  EXPECT_NE(out.find("McNemar"), std::string::npos);
  EXPECT_THROW(eval_with({"--output", one, "--ensemble", "vote"}), Error);
  EXPECT_THROW(eval_with({"--output", one, "--with", two, "--ensemble", "mean"}), Error);
  EXPECT_THROW(eval_with({"--output", one, "--with", two, "--against", two}), Error);
}

// Another source's samples, of which the first takes longer than the timeouts of the test.
class StalledSource final : public data::Source {
 public:
  explicit StalledSource(std::shared_ptr<const Source> of) : of_(std::move(of)) {}
  std::int64_t count() const override { return of_->count(); }
  const data::Form& form() const override { return of_->form(); }
  void read(std::int64_t sample, const data::SampleKey& key, void* input,
            void* target) const override {
    if (sample == 0) std::this_thread::sleep_for(std::chrono::seconds(2));
    of_->read(sample, key, input, target);
  }

 private:
  std::shared_ptr<const Source> of_;
};

// Every reader of samples gives up on a source that stalls after the recipe's timeout.
TEST(StalledData, IsADeadlineErrorForEveryReader) {
  const config::Config config = tiny_config("mlp", {"sync.timeout=1s"});
  Job job = open_job(config, tiny_kinds());
  const auto source = std::make_shared<StalledSource>(job.sets.test);
  const TrainedModel trained{
      .folder = {}, .config = config, .data = {.form = source->form()}, .model = job.model};
  EXPECT_EQ(trained.timeouts().collective, std::chrono::seconds(1));
  const auto code_of = [](const std::function<void()>& read) {
    try {
      read();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::Misuse;
  };
  const comm::Group::Options options{.timeout = trained.timeouts().collective};
  EXPECT_EQ(code_of([&] {
              evaluate(*job.model, {.source = source,
                                    .loss = job.loss.get(),
                                    .group = comm::Group::solo(nullptr, 0, options)});
            }),
            ErrorCode::Deadline);
  EXPECT_EQ(code_of([&] {
              ask_panel({{job.model, source}}, {.timeouts = trained.timeouts()},
                        [](const auto&) {});
            }),
            ErrorCode::Deadline);
  PredictionWriter writer({});
  EXPECT_EQ(code_of([&] { predict(trained, {.source = source}, writer); }), ErrorCode::Deadline);
}

// Token after token, each one more than the last, of seven.
class CountingText final : public data::Source {
 public:
  std::int64_t count() const override { return 9; }
  const data::Form& form() const override { return form_; }
  void read(std::int64_t sample, const data::SampleKey&, void* input, void* target) const override {
    for (std::int64_t i = 0; i < 12; ++i) {
      static_cast<std::int64_t*>(input)[i] = (sample + i) % 7;
      static_cast<std::int64_t*>(target)[i] = (sample + i + 1) % 7;
    }
  }

 private:
  data::Form form_{
      .input_sizes = {12}, .input_type = at::kLong, .target_sizes = {12}, .classes = 7};
};

// Says that each token is followed by the one `step` after it.
std::shared_ptr<model::Model> counting_model(std::int64_t step) {
  return model::wrap(std::make_shared<torch::nn::Module>(),
                     [step](torch::nn::Module&, const at::Tensor& tokens, const model::Context&) {
                       return at::one_hot((tokens + step).remainder(7), 7).to(at::kFloat);
                     });
}

TEST(BleuOfContinuations, IsOneWhereTheTextIsKnown) {
  EXPECT_NEAR(bleu_of_continuations(*counting_model(1), CountingText(), 5), 1, 1e-12);
  EXPECT_EQ(bleu_of_continuations(*counting_model(2), CountingText(), 100), 0);
  Job table = open_job(tiny_config("mlp", {}), tiny_kinds());
  EXPECT_THROW(bleu_of_continuations(*table.model, *table.sets.test, 5), Error);
}

}  // namespace
}  // namespace trireme::train
