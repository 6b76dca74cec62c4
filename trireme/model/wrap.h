// wrap() makes a Model from any torch::nn::Module and a function that runs it.
//
//   auto net = std::make_shared<MyNet>();
//   auto model = model::wrap(net, [](MyNet& m, const at::Tensor& x, const model::Context&) {
//     return m.forward(x);
//   });
//
// Parameters keep the names and the initial values that the module's constructor gave them. Jobs
// seed torch's generator with train.seed before they create a model; a custom training loop should
// do the same if every rank must start with the same weights.
//
// Thread safety: as the module's forward.
// Lifetime:      the model shares ownership of the module.

#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/model/model.h"

namespace trireme::model {

// The template parameter is not called Module, because torch::nn::Module's own name would hide it
// in the class.
template <class Net>
class WrappedModel final : public Model {
 public:
  using Forward = std::function<at::Tensor(Net&, const at::Tensor&, const Context&)>;

  WrappedModel(std::shared_ptr<Net> module, Forward forward)
      : module_(std::move(module)), forward_(std::move(forward)) {
    TRIREME_CHECK(module_ != nullptr && forward_ != nullptr, "wrap() of nothing");
    for (const auto& item : module_->named_parameters(/*recurse=*/false)) {
      register_parameter(item.key(), item.value(), item.value().requires_grad());
    }
    for (const auto& item : module_->named_buffers(/*recurse=*/false)) {
      register_buffer(item.key(), item.value());
    }
    for (const auto& child : module_->named_children()) {
      register_module(child.key(), child.value());
    }
  }

  at::Tensor forward(const at::Tensor& input, const Context& context) override {
    if (module_->is_training() != context.is_training) module_->train(context.is_training);
    return forward_(*module_, input, context);
  }

  const std::shared_ptr<Net>& module() const noexcept { return module_; }

 private:
  std::shared_ptr<Net> module_;
  Forward forward_;
};

template <class Net, class Forward>
std::shared_ptr<Model> wrap(std::shared_ptr<Net> module, Forward forward) {
  return std::make_shared<WrappedModel<Net>>(std::move(module), std::move(forward));
}

// For a LibTorch module holder (torch::nn::Sequential and others) whose forward takes the input.
template <class Net>
std::shared_ptr<Model> wrap(const torch::nn::ModuleHolder<Net>& holder) {
  return wrap(holder.ptr(), [](Net& module, const at::Tensor& input, const Context&) {
    return at::Tensor(module.forward(input));
  });
}

}  // namespace trireme::model
