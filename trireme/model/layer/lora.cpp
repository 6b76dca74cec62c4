#include "trireme/model/layer/lora.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/model/block_model.h"

namespace trireme::model {
namespace {

constexpr const char* kDown = "lora_a";
constexpr const char* kUp = "lora_b";

using Visit = std::function<void(const std::string& name, Linear& layer)>;

void visit_below(torch::nn::Module& module, const std::string& path, const Visit& visit) {
  if (auto* layer = dynamic_cast<Linear*>(&module)) visit(path, *layer);
  for (const auto& child : module.named_children()) {
    visit_below(*child.value(), path.empty() ? child.key() : path + "." + child.key(), visit);
  }
}

// A BlockModel registers the parameters of its layers but not the layers.
void for_each_linear(Model& model, const Visit& visit) {
  auto* blocks = dynamic_cast<BlockModel*>(&model);
  if (blocks == nullptr) return visit_below(model, "", visit);
  for (std::size_t i = 0; i < blocks->paths().size(); ++i) {
    visit_below(*blocks->blocks()[i], blocks->paths()[i], visit);
  }
}

// The module of the model that registers a layer's parameters; null if the layer itself is
// registered.
torch::nn::Module* folder_for(Model& model, const std::string& name, const Linear& layer) {
  const auto modules = model.named_modules();
  const auto* found = modules.find(name);
  TRIREME_CHECK(found != nullptr, "the model does not show its layer ", name);
  return found->get() == &layer ? nullptr : found->get();
}

Lora* lora_of(const Linear& layer) {
  return dynamic_cast<Lora*>(layer.strategy.get());
}

void attach(Model& model, const std::string& name, Linear& layer, const LoraOptions& options) {
  TRIREME_CHECK(layer.strategy == nullptr, name, " has a strategy already");
  const at::TensorOptions like = layer.weight.options().requires_grad(false);
  const at::Tensor a = at::empty({options.rank, layer.weight.size(1)}, like);
  const at::Tensor b = at::empty({layer.weight.size(0), options.rank}, like);
  fill(a, Start::uniform(1 / std::sqrt(static_cast<double>(a.size(1)))), options.seed,
       name + "." + kDown);
  fill(b, Start::constant(0), options.seed, name + "." + kUp);
  torch::nn::Module* const folder = folder_for(model, name, layer);
  for (const auto& [key, tensor] : {std::pair{kDown, a}, std::pair{kUp, b}}) {
    layer.register_parameter(key, tensor);
    if (folder != nullptr) folder->register_parameter(key, tensor);
  }
  layer.strategy = std::make_shared<Lora>(a, b, options.scale);
}

}  // namespace

Lora::Lora(at::Tensor a, at::Tensor b, double scale)
    : a_(std::move(a)), b_(std::move(b)), scale_(scale) {}

at::Tensor Lora::forward(const Linear& layer, const at::Tensor& x, const Context&) {
  const at::Tensor y = at::linear(x, layer.weight, layer.bias);
  return is_merged_ ? y : y + at::linear(at::linear(x, a_), b_) * scale_;
}

at::Tensor Lora::change() const {
  return b_.mm(a_) * scale_;
}

void Lora::merge(const Linear& layer) {
  const c10::NoGradGuard no_grad;
  if (!std::exchange(is_merged_, true)) layer.weight.detach().add_(change());
}

void Lora::unmerge(const Linear& layer) {
  const c10::NoGradGuard no_grad;
  if (std::exchange(is_merged_, false)) layer.weight.detach().sub_(change());
}

int attach_lora(Model& model, const LoraOptions& options) {
  TRIREME_CHECK(options.rank > 0, "a change of rank ", options.rank);
  int count = 0;
  const auto shown = model.named_parameters();
  for_each_linear(model, [&](const std::string& name, Linear& layer) {
    // A tied weight belongs to another layer: merging would change that layer too.
    if (!options.is_wanted(name) || !shown.contains(name + ".weight")) return;
    attach(model, name, layer, options);
    ++count;
  });
  return count;
}

void merge_lora(Model& model) {
  for_each_linear(model, [](const std::string&, Linear& layer) {
    if (Lora* lora = lora_of(layer)) lora->merge(layer);
  });
}

void unmerge_lora(Model& model) {
  for_each_linear(model, [](const std::string&, Linear& layer) {
    if (Lora* lora = lora_of(layer)) lora->unmerge(layer);
  });
}

bool is_lora(const std::string& parameter) noexcept {
  return parameter.ends_with(".lora_a") || parameter.ends_with(".lora_b");
}

}  // namespace trireme::model
