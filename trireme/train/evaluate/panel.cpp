#include "trireme/train/evaluate/panel.h"

#include <ATen/ops/equal.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "trireme/base/error.h"
#include "trireme/data/loader.h"
#include "trireme/model/documents.h"

namespace trireme::train {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::InvalidInput, "these jobs have different test data: " + why);
}

bool has_same_tasks(const data::Form& left, const data::Form& right) {
  return std::ranges::equal(left.tasks, right.tasks, [](const auto& one, const auto& other) {
    return one.name == other.name && one.classes == other.classes;
  });
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
  if (!has_same_tasks(left, right)) refuse("their targets have different names or classes");
  const bool has_names = !left.class_names.empty() && !right.class_names.empty();
  if (has_names && left.class_names != right.class_names) {
    refuse("their classes have different names or another order");
  }
}

// The columns of a numeric target in the targets of a batch and in a model's outputs.
struct NumberColumn {
  std::int64_t target = 0;
  std::int64_t output = 0;
  data::Standard standard = {};
};

std::vector<NumberColumn> number_columns(const data::Form& form) {
  const auto standard_of = [&](std::int64_t target) {
    return form.target_standards.empty()
               ? data::Standard()
               : form.target_standards.at(static_cast<std::size_t>(target));
  };
  std::vector<NumberColumn> all;
  if (form.tasks.empty()) {
    const std::int64_t count = form.is_regression() ? form.target_count() : 0;
    for (std::int64_t i = 0; i < count; ++i) all.push_back({i, i, standard_of(i)});
    return all;
  }
  std::int64_t output = 0;
  for (std::int64_t i = 0; i < std::ssize(form.tasks); ++i) {
    const data::TaskForm& task = form.tasks[static_cast<std::size_t>(i)];
    if (task.classes == 0) all.push_back({i, output, standard_of(i)});
    output += task.outputs();
  }
  return all;
}

// Converts outputs (B, columns) to the standardization of the first member.
at::Tensor as_first(const at::Tensor& outputs, const std::vector<NumberColumn>& first,
                    const std::vector<NumberColumn>& own) {
  const at::Tensor all = outputs.clone(at::MemoryFormat::Contiguous);
  const at::Tensor rows = all.reshape({all.size(0), -1});
  for (std::size_t i = 0; i < own.size(); ++i) {
    const at::Tensor column = rows.narrow(1, own[i].output, 1);
    const at::Tensor units = data::restored(column, {own[i].standard});
    column.copy_(data::standardized(units, {first[i].standard}));
  }
  return all;
}

// Compares one column in original units. Each source has rounded the same number to a float32 in
// its own units, so small differences are allowed.
at::Tensor is_same_number(const at::Tensor& one, const data::Standard& first,
                          const at::Tensor& other, const data::Standard& own) {
  constexpr double kRounding = 2 * std::numeric_limits<float>::epsilon();
  const at::Tensor left = one.to(at::kDouble), right = other.to(at::kDouble);
  const at::Tensor most =
      kRounding * (left.abs() * first.deviation + right.abs() * own.deviation) +
      4 * std::numeric_limits<double>::epsilon() * (std::abs(first.mean) + std::abs(own.mean));
  const at::Tensor difference =
      (left * first.deviation + first.mean) - (right * own.deviation + own.mean);
  return difference.abs().le(most);
}

void require_same_targets(const data::Batch& one, const data::Form& first, const data::Batch& other,
                          const data::Form& own, std::int64_t cursor) {
  if (!at::equal(one.places, other.places)) refuse("one skipped samples that the other could read");
  if (at::equal(one.target, other.target) && first.target_standards == own.target_standards) return;
  at::Tensor is_same = one.target.eq(other.target).reshape({one.count(), -1}).clone();
  if (first.target_standards != own.target_standards) {
    const auto left = number_columns(first), right = number_columns(own);
    for (std::size_t i = 0; i < left.size(); ++i) {
      const auto column = [&](const data::Batch& batch) {
        return batch.target.reshape({batch.count(), -1}).select(1, left[i].target);
      };
      is_same.select(1, left[i].target)
          .copy_(is_same_number(column(one), left[i].standard, column(other), right[i].standard));
    }
  }
  const at::Tensor rows = is_same.all(1);
  if (rows.all().item<bool>()) return;
  const std::int64_t at = rows.logical_not().to(at::kLong).argmax().item<std::int64_t>();
  refuse("the target of sample " + std::to_string(cursor + one.places[at].item<std::int64_t>()) +
         " differs");
}

}  // namespace

void ask_panel(const std::vector<PanelMember>& members, const PanelReading& reading,
               const std::function<void(const PanelAnswers&)>& take) {
  const c10::InferenceMode guard;
  std::vector<std::unique_ptr<data::Loader>> loaders;
  for (const PanelMember& member : members) {
    require_same_form(members.front(), member);
    member.model->eval();
    loaders.push_back(std::make_unique<data::Loader>(
        data::Loader::Options{.source = member.source,
                              .batch = reading.batch,
                              .is_shuffled = false,
                              .threads = 1,
                              .timeout = reading.timeouts.loader()}));
  }
  const data::Form& first_form = members.front().source->form();
  const std::int64_t steps = loaders.front()->steps_an_epoch();
  for (std::int64_t step = 0; step < steps; ++step) {
    PanelAnswers answers;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const data::StepBatches& work = loaders[i]->next();
      const data::Batch& read = work.batches[0];
      if (i == 0) {
        answers.first = work.at.cursor;
        answers.batch = read;
      }
      const data::Form& form = members[i].source->form();
      require_same_targets(answers.batch, first_form, read, form, work.at.cursor);
      if (read.count() == 0) continue;  // no sample of the batch could be read
      const at::Tensor input = read.input.to(model::device_of(*members[i].model));
      const model::Context context{.places = read.places,
                                   .documents = model::documents_in(input, form)};
      const at::Tensor output = members[i].model->forward(input, context).to(at::kCPU, at::kFloat);
      const bool is_alike = form.target_standards == first_form.target_standards;
      answers.outputs.push_back(
          is_alike ? output : as_first(output, number_columns(first_form), number_columns(form)));
    }
    take(answers);
  }
  for (const PanelMember& member : members) member.model->train();
}

}  // namespace trireme::train
