#include "trireme/parallel/gradient_hooks.h"

#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <memory>

namespace trireme::parallel {
namespace {

class Hook final : public torch::autograd::PostAccumulateGradHook {
 public:
  Hook(GradientHooks::Born on_gradient, std::size_t parameter)
      : born_(std::move(on_gradient)), parameter_(parameter) {}
  void operator()(const torch::autograd::Variable&) override { born_(parameter_); }

 private:
  GradientHooks::Born born_;
  std::size_t parameter_;
};

}  // namespace

GradientHooks::GradientHooks(const std::vector<Parameter>& parameters, const Born& on_gradient) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    tensors_.push_back(parameters[i].tensor);
    auto hook = std::make_unique<Hook>(on_gradient, i);
    hooks_.push_back(hook.get());
    torch::autograd::impl::set_post_acc_grad_hooks(tensors_[i], std::move(hook));
  }
}

GradientHooks::~GradientHooks() {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (torch::autograd::impl::post_acc_grad_hooks(tensors_[i]).get() != hooks_[i]) continue;
    torch::autograd::impl::set_post_acc_grad_hooks(tensors_[i], nullptr);
  }
}

}  // namespace trireme::parallel
