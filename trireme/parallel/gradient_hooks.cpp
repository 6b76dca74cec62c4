#include "trireme/parallel/gradient_hooks.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <memory>

namespace trireme::parallel {
namespace {

class Hook final : public torch::autograd::PostAccumulateGradHook {
 public:
  Hook(GradientHooks::Born born, std::size_t parameter)
      : born_(std::move(born)), parameter_(parameter) {}
  void operator()(const torch::autograd::Variable&) override { born_(parameter_); }

 private:
  GradientHooks::Born born_;
  std::size_t parameter_;
};

}  // namespace

GradientHooks::GradientHooks(const std::vector<Parameter>& parameters, const Born& born) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    tensors_.push_back(parameters[i].tensor);
    torch::autograd::impl::set_post_acc_grad_hooks(tensors_[i], std::make_unique<Hook>(born, i));
  }
}

GradientHooks::~GradientHooks() {
  for (const at::Tensor& tensor : tensors_) {
    torch::autograd::impl::set_post_acc_grad_hooks(tensor, nullptr);
  }
}

}  // namespace trireme::parallel
