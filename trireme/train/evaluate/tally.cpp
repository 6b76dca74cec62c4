#include "trireme/train/evaluate/tally.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/topk.h>

#include <algorithm>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/model/loss/multitask_loss.h"

namespace trireme::train {
namespace {

void count_answers(Scores& scores, const at::Tensor& output, const at::Tensor& target) {
  if (target.numel() == 0) return;
  const at::Tensor answers = output.argmax(-1).reshape({-1});
  const at::Tensor truths = target.reshape({-1}).to(output.device());
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
  const std::int64_t most = std::min<std::int64_t>(kTopMax, rows.size(1));
  // How often the correct class was the most likely one, the second most likely, and so on.
  const at::Tensor places =
      std::get<1>(rows.topk(most, -1)).eq(truths.unsqueeze(1)).sum(0).contiguous();
  std::int64_t among = 0;
  for (int k = 1; k <= kTopMax; ++k) {
    if (k <= most) among += places[k - 1].item<std::int64_t>();
    scores.add_top(k, among);
  }
}

// Targets with several columns have these next to each other.
void count_numbers(Scores& scores, const at::Tensor& output, const at::Tensor& target,
                   std::int64_t columns) {
  const at::Tensor answers = output.reshape({-1}).to(at::kDouble);
  const at::Tensor truths = target.reshape({-1}).to(at::kDouble);
  const auto answer = answers.accessor<double, 1>();
  const auto truth = truths.accessor<double, 1>();
  for (std::int64_t i = 0; i < truths.numel(); ++i) {
    scores.numbers().add(truth[i], answer[i], i % columns);
  }
}

// If the target is an image, all its numbers count as one column.
std::int64_t columns_of(const data::Form& form) {
  return form.is_regression() ? form.target_count() : 1;
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

// Counts each task by the outputs of its own head.
void count_tasks(Scores& scores, const data::Form& form, const at::Tensor& output,
                 const at::Tensor& target) {
  const std::vector<data::TaskForm>& tasks = form.tasks;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    at::Tensor said = model::head_of(output, tasks, i);
    at::Tensor truth = target.narrow(1, index, 1);
    if (tasks[i].classes == 0 && !form.target_standards.empty()) {
      const std::vector<data::Standard> own{form.target_standards[i]};
      said = data::restored(said, own);
      truth = data::restored(truth, own);
    }
    truth = truth.squeeze(1).contiguous();
    Scores& task = scores.task(i);
    task.add_loss(model::task_loss(tasks[i], said, truth).item<double>(), truth.numel());
    tasks[i].classes > 0 ? count_answers(task, said, truth.to(at::kLong))
                         : count_numbers(task, said, truth, 1);
  }
}

}  // namespace

bool can_rank(const data::Source& source) {
  const data::Form& form = source.form();
  return form.classes > 0 && form.target_sizes.empty() &&
         source.count() * (form.classes + 1) <= Ranking::kCellsMax;
}

Tally::Tally(const data::Source& source, const model::Loss& loss, bool is_ranked)
    : form_(&source.form()), loss_(&loss), scores_(form_->classes, columns_of(*form_)) {
  for (const data::TaskForm& task : form_->tasks) {
    scores_.add_task(task.name, Scores(task.classes));
  }
  if (is_ranked) ranking_.emplace(source.count(), form_->classes);
}

// Samples are counted one by one on the CPU. With more classes than a matrix has, only their sums
// are needed, and outputs stay where they are.
void Tally::add(std::int64_t first, const at::Tensor& outputs, const data::Batch& batch) {
  scores_.add_skipped(batch.skipped);
  if (batch.count() == 0) return;
  const data::Form& form = *form_;
  const bool is_summed = form.classes > 0 && scores_.matrix().empty() && !ranking_;
  const at::Tensor output = is_summed ? outputs : outputs.cpu();
  at::Tensor said = output, truth = batch.target.to(output.device());
  // The sum of the losses of several tasks has no unit.
  if (form.tasks.empty() && !form.target_standards.empty()) {
    truth = data::restored(truth, form.target_standards);
    said = data::restored(said.reshape(truth.sizes()), form.target_standards);
  }
  scores_.add_loss(loss_->sum(said, truth).item<double>(), loss_->terms(truth));
  if (!form.tasks.empty()) return count_tasks(scores_, form, output, batch.target);
  form.classes > 0 ? count_answers(scores_, output, batch.target)
                   : count_numbers(scores_, said, truth, columns_of(form));
  if (ranking_) rank_samples(*ranking_, first, output, batch);
}

Scores Tally::finish(const comm::Group& group) {
  if (group.size() > 1) {
    std::vector<double> counts = scores_.counts();
    group
        .all_reduce({counts.data(), counts.size(), comm::DType::Float64}, comm::ReduceOp::Sum,
                    {.label = "evaluation"})
        .wait();
    scores_.set_counts(counts);
    const std::vector<double> mine = scores_.moments();
    std::vector<double> moments(mine.size() * static_cast<std::size_t>(group.size()));
    group
        .all_gather({moments.data(), moments.size(), comm::DType::Float64},
                    {mine.data(), mine.size(), comm::DType::Float64},
                    {.label = "evaluation's moments"})
        .wait();
    scores_.set_moments(moments);
    if (ranking_) {
      const std::span<float> table = ranking_->table();
      group
          .all_reduce({table.data(), table.size(), comm::DType::Float32}, comm::ReduceOp::Sum,
                      {.label = "evaluation's ranking"})
          .wait();
    }
  }
  if (scores_.skipped() > 0 && !scores_.has_terms()) {
    throw Error(ErrorCode::InvalidInput,
                "none of the " + std::to_string(scores_.skipped()) +
                    " samples to evaluate on could be read; data.bad_samples = \"error\" names "
                    "the first. Repair the files, or name others in data.test");
  }
  if (ranking_) scores_.set_roc_auc(ranking_->roc_auc());
  return scores_;
}

}  // namespace trireme::train
