#include "trireme/model/layer/lora.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <utility>

#include "trireme/base/check.h"

namespace trireme::model {
namespace {

constexpr const char* kDown = "lora_a";
constexpr const char* kUp = "lora_b";

using Visit = std::function<void(const std::string& name, Linear& layer)>;

// A layer with a tied weight is not part of the model's tree (BlockModel): merging would change the
// layer that owns the weight, too.
void for_each_linear(torch::nn::Module& module, const Visit& visit, const std::string& path = "") {
  if (auto* layer = dynamic_cast<Linear*>(&module)) visit(path, *layer);
  for (const auto& child : module.named_children()) {
    for_each_linear(*child.value(), visit, path.empty() ? child.key() : path + "." + child.key());
  }
}

// Null if the layer has none.
Lora* lora_of(const Linear& layer) {
  for (const auto& adapter : layer.adapters) {
    if (auto* lora = dynamic_cast<Lora*>(adapter.get())) return lora;
  }
  return nullptr;
}

void attach(const std::string& name, Linear& layer, const LoraOptions& options) {
  TRIREME_CHECK(lora_of(layer) == nullptr, name, " has LoRA already");
  const at::TensorOptions like = layer.weight.options().requires_grad(false);
  const at::Tensor a = at::empty({options.rank, layer.weight.size(1)}, like);
  const at::Tensor b = at::empty({layer.weight.size(0), options.rank}, like);
  fill(a, Start::uniform(1 / std::sqrt(static_cast<double>(a.size(1)))), options.seed,
       name + "." + kDown);
  fill(b, Start::constant(0), options.seed, name + "." + kUp);
  layer.register_parameter(kDown, a);
  layer.register_parameter(kUp, b);
  layer.adapters.push_back(std::make_shared<Lora>(a, b, options.scale));
}

}  // namespace

Lora::Lora(at::Tensor a, at::Tensor b, double scale)
    : a_(std::move(a)), b_(std::move(b)), scale_(scale) {}

at::Tensor Lora::forward(const Linear&, const at::Tensor& x, const Context&, const Next& next) {
  const at::Tensor y = next(x);
  return is_merged_ ? y : y + at::linear(at::linear(x, a_), b_) * scale_;
}

at::Tensor Lora::change() const {
  return b_.mm(a_) * scale_;
}

void Lora::merge(const Linear& layer) {
  const c10::NoGradGuard no_grad;
  if (!std::exchange(is_merged_, true)) layer.weight.detach().add_(change());
}

int attach_lora(Model& model, const LoraOptions& options) {
  TRIREME_CHECK(options.rank > 0, "a change of rank ", options.rank);
  int count = 0;
  for_each_linear(model, [&](const std::string& name, Linear& layer) {
    if (!options.is_wanted(name)) return;
    attach(name, layer, options);
    ++count;
  });
  return count;
}

void merge_lora(Model& model) {
  for_each_linear(model, [](const std::string&, Linear& layer) {
    if (Lora* lora = lora_of(layer)) lora->merge(layer);
  });
}

bool is_lora(const std::string& parameter) noexcept {
  return parameter.ends_with(".lora_a") || parameter.ends_with(".lora_b");
}

}  // namespace trireme::model
