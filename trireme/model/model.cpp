#include "trireme/model/model.h"

#include <set>

#include "trireme/base/error.h"

namespace trireme::model {

void Model::set_recompute(bool is_on) {
  if (is_on) {
    throw Error(
        ErrorCode::Unsupported,
        "model.activation_checkpointing requires a model made of blocks (docs/models.md), and "
        "this one is a module of its own kind; set model.activation_checkpointing=false");
  }
}

Start Model::start_of(const std::string&, const at::Tensor&) const {
  return Start::keep();
}

at::Device device_of(const torch::nn::Module& module) {
  const std::vector<at::Tensor> parameters = module.parameters();
  return parameters.empty() ? at::Device(at::kCPU) : parameters.front().device();
}

std::int64_t parameter_count(const torch::nn::Module& module) {
  std::set<const void*> seen;
  std::int64_t count = 0;
  for (const at::Tensor& parameter : module.parameters()) {
    if (seen.insert(parameter.unsafeGetTensorImpl()).second) count += parameter.numel();
  }
  return count;
}

}  // namespace trireme::model
