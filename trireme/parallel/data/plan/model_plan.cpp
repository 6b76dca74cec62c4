#include "trireme/parallel/data/plan/model_plan.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "trireme/base/entropy.h"

namespace trireme::parallel::data {
namespace {

constexpr std::size_t kStorageNames = 3;  // besides one per state; see Storage::make()

std::vector<int> groups_of(const std::vector<Parameter>& parameters) {
  std::map<std::tuple<double, double, std::int64_t, int>, int> known;
  std::vector<int> groups;
  for (const Parameter& parameter : parameters) {
    const auto key = std::tuple(parameter.lr_factor, parameter.weight_decay, parameter.first_update,
                                parameter.rule);
    groups.push_back(known.emplace(key, static_cast<int>(known.size())).first->second);
  }
  return groups;
}

std::vector<std::vector<std::size_t>> blocks_of(const model::Model* model,
                                                const std::vector<Parameter>& parameters) {
  std::vector<std::vector<std::size_t>> blocks;
  if (model == nullptr) return blocks;
  std::vector<bool> is_found(parameters.size());
  for (const auto& block : model->blocks()) {
    std::vector<std::size_t>& read = blocks.emplace_back();
    for (const at::Tensor& tensor : block->parameters()) {
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (!parameters[i].tensor.is_same(tensor)) continue;
        read.push_back(i);
        is_found[i] = true;
      }
    }
  }
  const bool is_whole = std::find(is_found.begin(), is_found.end(), false) == is_found.end();
  return is_whole ? blocks : std::vector<std::vector<std::size_t>>{};
}

}  // namespace

Blueprint Blueprint::draw(const std::vector<std::size_t>& order, std::size_t state_count) {
  Blueprint result{.order = std::vector<std::int64_t>(order.begin(), order.end()),
                   .names = std::vector<std::int64_t>(kStorage + kStorageNames + state_count)};
  secure_random({reinterpret_cast<std::byte*>(result.names.data()),
                 result.names.size() * sizeof(std::int64_t)});
  for (std::int64_t& name : result.names) name |= 1;  // 0 is no name
  return result;
}

ModelPlan::ModelPlan(const std::vector<Parameter>& parameters, const model::Model* model)
    : parameters_(parameters),
      groups_(groups_of(parameters)),
      blocks_(blocks_of(model, parameters)) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    index_.emplace(parameters[i].tensor.unsafeGetTensorImpl(), i);
  }
}

std::optional<std::size_t> ModelPlan::index_of(const at::Tensor& parameter) const {
  const auto found = index_.find(parameter.unsafeGetTensorImpl());
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

BucketPlan ModelPlan::buckets(const std::vector<std::int64_t>& order, const Buckets& how) const {
  std::vector<BucketPlan::Parameter> shapes;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    shapes.push_back({.count = parameters_[i].tensor.numel(), .group = groups_[i]});
  }
  // A tied parameter belongs to the first block that reads it.
  for (std::size_t b = blocks_.size(); how.is_by_block && b-- > 0;) {
    for (const std::size_t i : blocks_[b]) shapes[i].unit = static_cast<int>(b);
  }
  const auto element = static_cast<std::int64_t>(parameters_.at(0).tensor.element_size());
  return BucketPlan::make(shapes, std::vector<std::size_t>(order.begin(), order.end()),
                          {.bucket_count = std::max<std::int64_t>(how.bytes / element, 1),
                           .is_whole = how.has_whole_parameters});
}

}  // namespace trireme::parallel::data
