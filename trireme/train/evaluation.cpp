#include "trireme/train/evaluation.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/topk.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "trireme/data/loader.h"
#include "trireme/model/documents.h"
#include "trireme/train/autocast.h"
#include "trireme/train/ranking.h"

namespace trireme::train {
namespace {

void count_answers(Scores& scores, const at::Tensor& output, const at::Tensor& target) {
  if (target.numel() == 0) return;
  const at::Tensor answers = output.argmax(-1).reshape({-1});
  const at::Tensor truths = target.reshape({-1});
  if (scores.matrix().empty()) {
    scores.add_answers(answers.eq(truths).sum().item<std::int64_t>(), truths.numel());
    return;
  }
  const at::Tensor rows = output.reshape({-1, output.size(-1)});
  const at::Tensor sure = std::get<0>(rows.softmax(-1).max(-1)).contiguous();
  const auto answer = answers.accessor<std::int64_t, 1>();
  const auto truth = truths.accessor<std::int64_t, 1>();
  const auto confidence = sure.accessor<float, 1>();
  for (std::int64_t i = 0; i < truths.numel(); ++i) {
    scores.add_answer(truth[i], answer[i]);
    scores.add_confidence(confidence[i], truth[i] == answer[i]);
  }
  const at::Tensor best = std::get<1>(rows.topk(std::min<std::int64_t>(5, rows.size(1)), -1));
  scores.add_top5(best.eq(truths.unsqueeze(1)).sum().item<std::int64_t>());
}

void count_numbers(Scores& scores, const at::Tensor& output, const at::Tensor& target) {
  const at::Tensor answers = output.reshape({-1}).to(at::kDouble);
  const at::Tensor truths = target.reshape({-1}).to(at::kDouble);
  const auto answer = answers.accessor<double, 1>();
  const auto truth = truths.accessor<double, 1>();
  for (std::int64_t i = 0; i < truths.numel(); ++i) scores.add_number(truth[i], answer[i]);
}

void rank_samples(Ranking& ranking, std::int64_t first, const at::Tensor& output,
                  const data::Batch& batch) {
  const at::Tensor shares = output.softmax(-1).contiguous();
  const auto places = batch.places.accessor<std::int64_t, 1>();
  const auto truth = batch.target.accessor<std::int64_t, 1>();
  for (std::int64_t i = 0; i < batch.count(); ++i) {
    const float* const row = shares.const_data_ptr<float>() + i * shares.size(1);
    ranking.set(first + places[i], truth[i], {row, static_cast<std::size_t>(shares.size(1))});
  }
}

bool is_wanted_by_any(const std::atomic<bool>& flag, const comm::Group& group) {
  std::int64_t wanted = flag.load() ? 1 : 0;
  if (group.size() > 1) {
    group
        .all_reduce({&wanted, 1, comm::DType::Int64}, comm::ReduceOp::Max,
                    {.label = "evaluation goes on"})
        .wait();
  }
  return wanted != 0;
}

// Back to training whatever happens.
class Evaluating {
 public:
  explicit Evaluating(model::Model& model) : model_(model) { model_.eval(); }
  ~Evaluating() { model_.train(); }
  Evaluating(const Evaluating&) = delete;
  Evaluating& operator=(const Evaluating&) = delete;

 private:
  model::Model& model_;
};

// Where there is a flag, all ranks look at it before each batch.
std::optional<Scores> run(model::Model& model, const EvaluationOptions& options,
                          const std::atomic<bool>* is_stop_wanted) {
  const c10::InferenceMode guard;
  const data::Form& form = options.source->form();
  Scores scores(form.classes);
  std::optional<Ranking> ranking;
  if (options.is_ranked) ranking.emplace(options.source->count(), form.classes);
  data::Loader loader({.source = options.source,
                       .batch = options.batch * options.group.size(),
                       .slots = options.group.size(),
                       .mine = {options.group.rank()},
                       .is_shuffled = false,
                       .threads = options.threads});
  const Evaluating evaluating(model);
  const Autocast precision(options.precision);
  for (std::int64_t step = 0; step < loader.steps_an_epoch(); ++step) {
    if (is_stop_wanted != nullptr && is_wanted_by_any(*is_stop_wanted, options.group)) return {};
    const data::StepBatches& work = loader.next();
    const data::Batch& batch = work.batches[0];
    if (batch.count() == 0) continue;
    const model::Context context{.slot = work.slots[0],
                                 .places = batch.places,
                                 .documents = model::documents_in(batch.input, form)};
    const at::Tensor output = model.forward(batch.input, context).to(at::kFloat);
    scores.add_loss(options.loss->sum(output, batch.target).item<double>(),
                    options.loss->terms(batch.target));
    form.classes > 0 ? count_answers(scores, output, batch.target)
                     : count_numbers(scores, output, batch.target);
    if (ranking) rank_samples(*ranking, work.at.cursor, output, batch);
  }
  if (options.group.size() > 1) {
    std::vector<double> counts = scores.counts();
    options.group
        .all_reduce({counts.data(), counts.size(), comm::DType::Float64}, comm::ReduceOp::Sum,
                    {.label = "evaluation"})
        .wait();
    scores.set_counts(counts);
    if (ranking) {
      const std::span<float> table = ranking->table();
      options.group
          .all_reduce({table.data(), table.size(), comm::DType::Float32}, comm::ReduceOp::Sum,
                      {.label = "evaluation's ranking"})
          .wait();
    }
  }
  if (ranking) scores.set_roc_auc(ranking->roc_auc());
  return scores;
}

}  // namespace

bool can_rank(const data::Source& source) {
  const data::Form& form = source.form();
  return form.classes > 0 && form.target_sizes.empty() &&
         source.count() * (form.classes + 1) <= Ranking::kCellsMax;
}

Scores evaluate(model::Model& model, const EvaluationOptions& options) {
  return *run(model, options, nullptr);
}

std::optional<Scores> evaluate_unless(model::Model& model, const EvaluationOptions& options,
                                      const std::atomic<bool>& is_stop_wanted) {
  return run(model, options, &is_stop_wanted);
}

}  // namespace trireme::train
