#include "trireme/model/stage_model.h"

#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <utility>

#include "trireme/base/check.h"

namespace trireme::model {

StageModel::StageModel(std::shared_ptr<const BlockModel> whole,
                       const std::vector<BlockRange>& stages,
                       const std::vector<at::Tensor>& elsewhere)
    : whole_(std::move(whole)) {
  const auto blocks = whole_->blocks();
  std::size_t next = 0;
  for (const BlockRange& stage : stages) {
    for (std::size_t i = stage.begin; i < stage.end; ++i) {
      add(whole_->paths()[i], blocks[i], elsewhere);
    }
    stages_.push_back({next, next + stage.count()});
    next += stage.count();
  }
  set_recompute(whole_->is_recomputed());
}

void StageModel::initialize(std::uint64_t seed) {
  const c10::NoGradGuard no_grad;
  for (const auto& item : named_parameters()) {
    at::Tensor parameter = item.value();
    const Start start = start_of(item.key(), parameter);
    if (!parameter.is_contiguous()) {
      const bool is_kept = start.kind == Start::Kind::Keep;
      parameter.set_data(
          is_kept ? parameter.detach().contiguous()
                  : at::empty(parameter.sizes(), parameter.options().requires_grad(false)));
    }
    fill(parameter, start, seed, item.key());
  }
}

at::Tensor StageModel::forward(const at::Tensor&, const Context&) {
  TRIREME_CHECK(false, "a stage of a pipeline has no forward pass of its own");
}

Start StageModel::start_of(const std::string& name, const at::Tensor& parameter) const {
  return whole_->start_of(name, parameter);
}

std::vector<TiedTensor> tied_tensors(const BlockModel& model) {
  std::vector<TiedTensor> all;
  const auto blocks = model.blocks();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (const at::Tensor& tensor : blocks[i]->parameters()) {
      const auto known = std::ranges::find_if(
          all, [&](const TiedTensor& one) { return one.tensor.is_same(tensor); });
      if (known == all.end()) {
        all.push_back({tensor, {i}});
      } else if (known->blocks.back() != i) {
        known->blocks.push_back(i);
      }
    }
  }
  std::erase_if(all, [](const TiedTensor& one) { return one.blocks.size() == 1; });
  return all;
}

}  // namespace trireme::model
