#include "trireme/train/panel.h"

#include <ATen/ops/equal.h>
#include <c10/core/InferenceMode.h>

#include <string>

#include "trireme/base/error.h"
#include "trireme/data/loader.h"
#include "trireme/model/documents.h"

namespace trireme::train {
namespace {

void require_same_form(const PanelMember& one, const PanelMember& other) {
  const data::Form& left = one.source->form();
  const data::Form& right = other.source->form();
  if (one.source->count() == other.source->count() && left.classes == right.classes &&
      left.target_sizes == right.target_sizes && left.target_type == right.target_type) {
    return;
  }
  throw Error(ErrorCode::InvalidInput, "these jobs do not answer the same questions: " +
                                           std::to_string(one.source->count()) + " samples of " +
                                           std::to_string(left.classes) + " classes for the one, " +
                                           std::to_string(other.source->count()) + " of " +
                                           std::to_string(right.classes) + " for the other");
}

void require_same_targets(const at::Tensor& one, const at::Tensor& other, std::int64_t first) {
  if (at::equal(one, other)) return;
  std::int64_t at = 0;
  while (at::equal(one[at], other[at])) ++at;
  throw Error(ErrorCode::InvalidInput,
              "these jobs do not answer the same questions: the target of "
              "sample " +
                  std::to_string(first + at) + " differs");
}

}  // namespace

void ask_panel(const std::vector<PanelMember>& members, std::int64_t batch,
               const std::function<void(const PanelAnswers&)>& take) {
  const c10::InferenceMode guard;
  std::vector<std::unique_ptr<data::Loader>> loaders;
  for (const PanelMember& member : members) {
    require_same_form(members.front(), member);
    member.model->eval();
    loaders.push_back(std::make_unique<data::Loader>(data::Loader::Options{
        .source = member.source, .batch = batch, .is_shuffled = false, .threads = 1}));
  }
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
      require_same_targets(answers.batch.target, read.target, work.at.cursor);
      const model::Context context{
          .places = read.places,
          .documents = model::documents_in(read.input, members[i].source->form())};
      answers.outputs.push_back(members[i].model->forward(read.input, context).to(at::kFloat));
    }
    take(answers);
  }
  for (const PanelMember& member : members) member.model->train();
}

}  // namespace trireme::train
