#include "trireme/train/evaluate/panel_scores.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eq.h>

#include <utility>

#include "trireme/base/error.h"
#include "trireme/data/source/subset_source.h"
#include "trireme/train/evaluate/ensemble.h"
#include "trireme/train/report/tally.h"

namespace trireme::train {
namespace {

// The cost of fitting a stack grows with the cube of the number of classes.
constexpr std::int64_t kStackedClassesMax = 100;

std::vector<PanelMember> with_half(std::vector<PanelMember> members, SampleHalf half) {
  for (PanelMember& member : members) {
    member.source =
        std::make_shared<data::SubsetSource>(member.source, half_of(member.source->count(), half));
  }
  return members;
}

Stack fit_stack(const std::vector<PanelMember>& members, const PanelReading& reading) {
  std::vector<std::vector<at::Tensor>> outputs(members.size());
  std::vector<at::Tensor> truth;
  ask_panel(with_half(members, SampleHalf::Fitted), reading, [&](const PanelAnswers& answers) {
    if (answers.outputs.empty()) return;
    for (std::size_t i = 0; i < members.size(); ++i) outputs[i].push_back(answers.outputs[i]);
    truth.push_back(answers.batch.target.clone());
  });
  if (truth.empty()) {
    throw Error(ErrorCode::InvalidInput, "none of the samples to fit a stack on could be read");
  }
  std::vector<at::Tensor> all;
  for (const std::vector<at::Tensor>& of_member : outputs) all.push_back(at::cat(of_member));
  return Stack::fit(all, at::cat(truth));
}

void check_blend(Blend blend, const data::Source& source) {
  const data::Form& form = source.form();
  if (!form.tasks.empty()) {
    throw Error(ErrorCode::InvalidInput,
                "ensembles of models with several tasks are not supported");
  }
  if (blend == Blend::Average) return;
  if (form.classes == 0) {
    throw Error(ErrorCode::InvalidInput,
                "--ensemble vote and stack require classes, but these targets are numbers; use "
                "average");
  }
  if (blend == Blend::Vote) return;
  const bool is_too_few = half_of(source.count(), SampleHalf::Fitted).empty() ||
                          half_of(source.count(), SampleHalf::Reported).empty();
  if (!form.target_sizes.empty() || form.classes > kStackedClassesMax || is_too_few) {
    throw Error(ErrorCode::InvalidInput,
                "--ensemble stack requires several samples of one class each, and at most " +
                    std::to_string(kStackedClassesMax) + " classes; use average or vote");
  }
}

at::Tensor blended(const PanelAnswers& answers, Blend blend, const std::optional<Stack>& stack,
                   bool has_classes) {
  if (stack) return stack->answer(answers.outputs);
  if (blend == Blend::Vote) return vote(answers.outputs);
  return has_classes ? average_classes(answers.outputs) : average_numbers(answers.outputs);
}

// Appends the loss of each sample of a batch, a mean over its terms; a sample without terms has
// none.
void add_losses(std::vector<double>& all, const at::Tensor& output, const at::Tensor& target,
                const model::Loss& loss) {
  for (std::int64_t i = 0; i < target.size(0); ++i) {
    const at::Tensor of = target.narrow(0, i, 1);
    const std::int64_t terms = loss.terms(of);
    const double sum = loss.sum(output.narrow(0, i, 1), of).item<double>();
    all.push_back(terms == 0 ? 0 : sum / static_cast<double>(terms));
  }
}

void add_right(std::vector<std::uint8_t>& all, const at::Tensor& output, const at::Tensor& target) {
  const at::Tensor is_right = output.argmax(-1).eq(target);
  const bool* const first = is_right.const_data_ptr<bool>();
  all.insert(all.end(), first, first + is_right.numel());
}

}  // namespace

PanelScores score_panel(std::vector<PanelMember> members, Blend blend,
                        const PanelOptions& options) {
  check_blend(blend, *members.front().source);
  std::optional<Stack> stack;
  if (blend == Blend::Stack) {
    stack = fit_stack(members, options.reading);
    members = with_half(std::move(members), SampleHalf::Reported);
  }
  const data::Source& source = *members.front().source;
  const Tally::Options how{.source = &source, .loss = options.loss, .is_ranked = can_rank(source)};
  std::vector<Tally> tallies(members.size(), Tally(how));
  Tally together(how);
  ask_panel(members, options.reading, [&](const PanelAnswers& answers) {
    if (answers.outputs.empty()) {
      for (Tally& tally : tallies) tally.add_skipped(answers.batch.skipped);
      return together.add_skipped(answers.batch.skipped);
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      tallies[i].add(answers.first, answers.outputs[i], answers.batch);
    }
    together.add(answers.first, blended(answers, blend, stack, source.form().classes > 0),
                 answers.batch);
  });
  PanelScores scores{
      .members = {}, .ensemble = together.finish(), .weights = {}, .samples = source.count()};
  for (Tally& tally : tallies) scores.members.push_back(tally.finish());
  if (stack) scores.weights = stack->weights();
  return scores;
}

ModelComparison compare_models(const PanelMember& first, const PanelMember& second,
                               const PanelOptions& options) {
  const data::Source& source = *first.source;
  const Tally::Options how{.source = &source, .loss = options.loss, .is_ranked = can_rank(source)};
  const bool is_of_classes = source.form().classes > 0 && source.form().target_sizes.empty() &&
                             source.form().target_type == at::kLong;
  std::vector<Tally> tallies(2, Tally(how));
  // The sum of the losses of several tasks has no unit.
  const std::vector<data::Standard> units =
      source.form().tasks.empty() ? source.form().target_standards : std::vector<data::Standard>{};
  std::vector<double> losses[2];
  std::vector<std::uint8_t> right[2];
  ask_panel({first, second}, options.reading, [&](const PanelAnswers& answers) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (answers.outputs.empty()) {
        tallies[i].add_skipped(answers.batch.skipped);
        continue;
      }
      tallies[i].add(answers.first, answers.outputs[i], answers.batch);
      add_losses(losses[i], data::restored(answers.outputs[i], units),
                 data::restored(answers.batch.target, units), *options.loss);
      if (is_of_classes) add_right(right[i], answers.outputs[i], answers.batch.target);
    }
  });
  ModelComparison difference{
      .first = tallies[0].finish(),
      .second = tallies[1].finish(),
      .answers = {},
      .loss = paired_bootstrap(losses[0], losses[1], {.seed = options.seed})};
  if (is_of_classes) difference.answers = mcnemar(right[0], right[1]);
  return difference;
}

}  // namespace trireme::train
