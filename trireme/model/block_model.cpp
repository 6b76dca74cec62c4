#include "trireme/model/block_model.h"

#include <algorithm>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/device/torch/autocast.h"
#include "trireme/model/interruption.h"
#include "trireme/model/layer/recompute.h"

namespace trireme::model {
namespace {

using torch::nn::Module;
using Tensors = std::vector<at::Tensor>;

// A step on the way to a layer's name, without a computation of its own.
class NestedName final : public Module {
 public:
  NestedName() : Module("folder") {}
};

Module& folder_of(Module& parent, const std::string& name) {
  const auto children = parent.named_children();
  const auto* found = children.find(name);
  if (found == nullptr) return *parent.register_module(name, std::make_shared<NestedName>());
  TRIREME_CHECK(dynamic_cast<NestedName*>(found->get()) != nullptr, "two blocks have a layer ",
                name);
  return **found;
}

bool contains(const Tensors& tensors, const at::Tensor& one) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const at::Tensor& other) { return other.is_same(one); });
}

bool has_any(const Module& layer, const Tensors& tensors) {
  const Tensors own = layer.parameters();
  return std::any_of(own.begin(), own.end(),
                     [&](const at::Tensor& tensor) { return contains(tensors, tensor); });
}

// Registers the layers of a block in the model's tree. Tensors that the block itself has, or whose
// layer has tied ones, are registered in a folder of the same name, without those that the model
// has already or that are elsewhere.
void show(Module& folder, const Module& source, const Module& model, const Tensors& elsewhere) {
  const auto known = [&] {
    Tensors all = model.parameters();
    all.insert(all.end(), elsewhere.begin(), elsewhere.end());
    return all;
  };
  for (const auto& item : source.named_parameters(/*recurse=*/false)) {
    if (!contains(known(), item.value())) {
      folder.register_parameter(item.key(), item.value(), item.value().requires_grad());
    }
  }
  for (const auto& item : source.named_buffers(/*recurse=*/false)) {
    folder.register_buffer(item.key(), item.value());
  }
  for (const auto& child : source.named_children()) {
    if (folder.named_children().contains(child.key()) || has_any(*child.value(), known())) {
      show(folder_of(folder, child.key()), *child.value(), model, elsewhere);
    } else {
      folder.register_module(child.key(), child.value());
    }
  }
}

// Converts 16-bit activations for a block that computes in a wider type.
Activations widened(Activations in) {
  const auto wide = [](const at::Tensor& tensor) {
    const bool is_narrow =
        tensor.scalar_type() == at::kBFloat16 || tensor.scalar_type() == at::kHalf;
    return is_narrow ? tensor.to(at::kFloat) : tensor;
  };
  in.main = wide(in.main);
  const auto others = in.others();
  for (const auto& [name, tensor] : others) in.set(name, wide(tensor));
  return in;
}

}  // namespace

void BlockModel::add(const std::string& path, std::shared_ptr<Block> block,
                     const std::vector<at::Tensor>& elsewhere) {
  TRIREME_CHECK(block != nullptr, "no block for ", path);
  Module* folder = this;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    folder = &folder_of(*folder, path.substr(begin, end - begin));
    begin = end + 1;
  }
  show(*folder, *block, *this, elsewhere);
  blocks_.push_back(std::move(block));
  paths_.push_back(path);
}

Activations BlockModel::forward_blocks(Activations in, const Context& context, std::size_t begin,
                                       std::size_t end) {
  TRIREME_CHECK(begin <= end && end <= blocks_.size(), "blocks ", begin, " to ", end, " of ",
                blocks_.size());
  for (std::size_t i = begin; i < end; ++i) {
    if (context.interruption != nullptr) context.interruption->throw_if_pointless();
    if (gate_) gate_->reach(i, PassDirection::Forward);
    const bool is_watched = gate_ && gate_->wants_backward();
    const std::vector<at::Tensor> taken = is_watched ? in.tensors() : std::vector<at::Tensor>();
    in = run_block(i, std::move(in), context);
    if (is_watched) watch_backward(i, taken, in.tensors());
  }
  return in;
}

Activations BlockModel::run_block(std::size_t index, Activations in, const Context& context) {
  const auto type = types_.empty() ? std::nullopt : types_[index];
  const c10::DeviceType device = in.main.device().type();
  const Autocast precision(device, type);
  const bool is_narrow = Autocast::type_on(device) != at::kFloat;
  if (!types_.empty() && !is_narrow) in = widened(std::move(in));
  return is_recomputed_ ? recompute(blocks_[index], std::move(in), context)
                        : blocks_[index]->forward(std::move(in), context);
}

void BlockModel::set_precisions(std::vector<std::optional<at::ScalarType>> types) {
  TRIREME_CHECK(types.empty() || types.size() == blocks_.size(), types.size(), " types of ",
                blocks_.size(), " blocks");
  types_ = std::move(types);
}

// Backward reaches a block when it first computes the gradient of a tensor that the block created.
// Tensors that the block only passed through are ignored.
void BlockModel::watch_backward(std::size_t block, const std::vector<at::Tensor>& taken,
                                const std::vector<at::Tensor>& given) const {
  for (const at::Tensor& tensor : given) {
    const auto is_it = [&](const at::Tensor& other) { return other.is_same(tensor); };
    if (!tensor.requires_grad() || std::any_of(taken.begin(), taken.end(), is_it)) continue;
    tensor.register_hook(
        [gate = gate_, block](const at::Tensor&) { gate->reach(block, PassDirection::Backward); });
  }
}

at::Tensor BlockModel::forward(const at::Tensor& input, const Context& context) {
  Activations out = forward_blocks(Activations(input), context, 0, blocks_.size());
  if (context.losses) {
    context.losses->insert(context.losses->end(), out.losses.begin(), out.losses.end());
  }
  return out.main;
}

// Backward multiplies by every matrix twice: for the gradient of its input, which is not needed if
// no earlier block is trained, and for its own gradient, unless it is frozen.
double BlockModel::flops_a_sample(const data::Form& form) const {
  double all = 0;
  bool is_input_trained = false;
  for (const auto& block : blocks_) {
    double matrices = 0;
    double trained = 0;
    for (const at::Tensor& parameter : block->parameters()) {
      const auto count = parameter.dim() >= 2 ? static_cast<double>(parameter.numel()) : 0;
      matrices += count;
      if (parameter.requires_grad()) trained += count;
    }
    const double of_weights = matrices > 0 ? trained / matrices : 0;
    all += block->forward_flops(form) * (1 + (is_input_trained ? 1 : 0) + of_weights);
    for (const at::Tensor& parameter : block->parameters()) {
      is_input_trained |= parameter.requires_grad();
    }
  }
  return all;
}

Start BlockModel::start_of(const std::string& name, const at::Tensor& parameter) const {
  at::Tensor weight;
  if (name.ends_with("bias")) {
    const auto all = named_parameters();
    const auto* found = all.find(name.substr(0, name.size() - 4) + "weight");
    if (found) weight = *found;
  }
  return default_start(name, parameter, weight);
}

void BlockModel::train(bool on) {
  Model::train(on);
  for (const auto& block : blocks_) block->train(on);
}

}  // namespace trireme::model
