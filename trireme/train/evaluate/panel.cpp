#include "trireme/train/evaluate/panel.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/InferenceMode.h>

#include <limits>
#include <string>

#include "trireme/base/error.h"
#include "trireme/data/loader.h"
#include "trireme/train/evaluate/evaluation.h"

namespace trireme::train {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::InvalidInput, "these jobs have different test data: " + why);
}

void require_same_form(const PanelMember& one, const PanelMember& other) {
  const data::Form& left = one.source->form();
  const data::Form& right = other.source->form();
  if (one.source->count() != other.source->count() || left.classes != right.classes ||
      left.target_sizes != right.target_sizes || left.target_type != right.target_type) {
    refuse(std::to_string(one.source->count()) + " samples of " + std::to_string(left.classes) +
           " classes for one job, " + std::to_string(other.source->count()) + " of " +
           std::to_string(right.classes) + " for the other");
  }
  if (left.tasks != right.tasks) refuse("their targets have different names or classes");
  const bool has_names = !left.class_names.empty() && !right.class_names.empty();
  if (has_names && left.class_names != right.class_names) {
    refuse("their classes have different names or another order");
  }
}

using Standards = std::vector<data::Standard>;

// Those of all targets; a default one (mean 0, deviation 1) changes nothing.
Standards target_standards(const data::Form& form) {
  const Standards none(static_cast<std::size_t>(form.target_count()));
  return form.target_standards.empty() ? none : form.target_standards;
}

// Those of a model's outputs, of which only predicted numbers are standardized.
Standards output_standards(const data::Form& form, std::int64_t outputs) {
  const Standards targets = target_standards(form);
  Standards all = form.tasks.empty() ? targets : Standards();
  for (std::size_t i = 0; i < form.tasks.size(); ++i) {
    const data::TaskForm& task = form.tasks[i];
    all.insert(all.end(), static_cast<std::size_t>(task.outputs()),
               task.classes > 0 ? data::Standard() : targets.at(i));
  }
  all.resize(static_cast<std::size_t>(outputs));
  return all;
}

// Converts outputs (B, columns) to the standardization of the first member.
at::Tensor as_first(const at::Tensor& outputs, const data::Form& first, const data::Form& own) {
  const at::Tensor rows = outputs.reshape({outputs.size(0), -1});
  const at::Tensor units = data::restored(rows, output_standards(own, rows.size(1)));
  return data::standardized(units, output_standards(first, rows.size(1)))
      .to(at::kFloat)
      .reshape(outputs.sizes());
}

// Compares targets (B, columns) in original units. Each source has rounded the same number to a
// float32 in its own units, so small differences are allowed.
at::Tensor are_same_numbers(const at::Tensor& left, const Standards& first, const at::Tensor& right,
                            const Standards& own) {
  constexpr double kRounding = 2 * std::numeric_limits<float>::epsilon();
  constexpr double kRoundingOfSums = 4 * std::numeric_limits<double>::epsilon();
  const at::Tensor deviations =
      data::restored_difference(left.abs(), first) + data::restored_difference(right.abs(), own);
  const at::Tensor nothing = at::zeros_like(left);
  const at::Tensor means =
      data::restored(nothing, first).abs() + data::restored(nothing, own).abs();
  const at::Tensor difference = data::restored(left, first) - data::restored(right, own);
  return difference.abs().le(kRounding * deviations + kRoundingOfSums * means);
}

void require_same_targets(const data::Batch& one, const data::Form& first, const data::Batch& other,
                          const data::Form& own, std::int64_t cursor) {
  if (!at::equal(one.places, other.places)) refuse("one skipped samples that the other could read");
  if (one.count() == 0) return;
  const at::Tensor left = one.target.reshape({one.count(), -1});
  const at::Tensor right = other.target.reshape({one.count(), -1});
  const at::Tensor is_same =
      first.target_standards == own.target_standards
          ? left.eq(right)
          : are_same_numbers(left, target_standards(first), right, target_standards(own));
  const at::Tensor rows = is_same.all(1);
  if (rows.all().item<bool>()) return;
  const std::int64_t at = rows.logical_not().to(at::kLong).argmax().item<std::int64_t>();
  refuse("the target of sample " + std::to_string(cursor + one.places[at].item<std::int64_t>()) +
         " differs");
}

}  // namespace

void ask_panel(const std::vector<PanelMember>& members, const PanelOptions& options,
               const std::function<void(const PanelAnswers&)>& take) {
  const c10::InferenceMode guard;
  std::vector<std::unique_ptr<data::Loader>> loaders;
  for (const PanelMember& member : members) {
    require_same_form(members.front(), member);
    member.model->eval();
    loaders.push_back(std::make_unique<data::Loader>(
        data::Loader::Options{.source = member.source,
                              .batch = options.batch,
                              .is_shuffled = false,
                              .threads = 1,
                              .timeout = options.timeouts.loader()}));
  }
  const data::Form& first_form = members.front().source->form();
  const std::int64_t steps = loaders.front()->steps_an_epoch();
  for (std::int64_t step = 0; step < steps; ++step) {
    PanelAnswers answers;
    answers.outputs.resize(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      const data::StepBatches& work = loaders[i]->next();
      const data::Batch& read = work.batches[0];
      if (i == 0) {
        answers.first = work.at.cursor;
        answers.batch = read;
      }
      const data::Form& form = members[i].source->form();
      require_same_targets(answers.batch, first_form, read, form, work.at.cursor);
      if (read.count() == 0) continue;
      const at::Tensor output = outputs_of(*members[i].model, work, form).cpu();
      const bool is_alike = form.target_standards == first_form.target_standards;
      answers.outputs[i] = is_alike ? output : as_first(output, first_form, form);
    }
    take(answers);
  }
  for (const PanelMember& member : members) member.model->train();
}

}  // namespace trireme::train
