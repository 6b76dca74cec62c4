#include "trireme/parallel/tensor/tensor_parallel.h"

#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/model/block_model.h"
#include "trireme/model/layer/embedding.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/simple_blocks.h"
#include "trireme/optim/groups.h"
#include "trireme/parallel/tensor/split_layers.h"

namespace trireme::parallel::tensor {
namespace {

using model::SplitRule;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::InvalidInput, why);
}

// Either of them is null.
struct Layer {
  std::string name;
  std::string module;  // whose layers have the same input
  model::Linear* linear = nullptr;
  model::Embedding* embedding = nullptr;

  const at::Tensor& weight() const {
    return linear != nullptr ? linear->weight : embedding->weight;
  }
  at::Tensor bias() const { return linear != nullptr ? linear->bias : at::Tensor(); }
};

// The Linears and Embeddings of a model. Those of a BlockModel are looked for in its blocks,
// because a layer with a tied weight is not part of the model's own tree.
std::vector<Layer> layers_of(const model::Model& model) {
  std::vector<Layer> all;
  const auto add = [&](const std::string& path, const torch::nn::Module& root) {
    for (const auto& item : root.named_modules("", /*include_self=*/false)) {
      const std::string name = path.empty() ? item.key() : path + "." + item.key();
      Layer layer{.name = name,
                  .module = name.substr(0, name.rfind('.')),
                  .linear = dynamic_cast<model::Linear*>(item.value().get()),
                  .embedding = dynamic_cast<model::Embedding*>(item.value().get())};
      if (layer.linear != nullptr || layer.embedding != nullptr) all.push_back(std::move(layer));
    }
  };
  const auto* blocks = dynamic_cast<const model::BlockModel*>(&model);
  if (blocks == nullptr) {
    add("", model);
    return all;
  }
  for (std::size_t i = 0; i < blocks->paths().size(); ++i) {
    const std::string& path = blocks->paths()[i];
    const auto block = blocks->blocks()[i];
    if (auto* dense = dynamic_cast<model::Dense*>(block.get())) {
      all.push_back({.name = path, .module = path, .linear = &dense->layer()});
    }
    add(path, *block);
  }
  return all;
}

void visit_cut_layers(const model::Model& model, const std::vector<SplitRule>& rules,
                      const std::function<void(const Layer&, const SplitRule&)>& visit) {
  const std::vector<Layer> layers = layers_of(model);
  if (rules.empty()) {
    refuse(
        "parallel.tensor requires a model with split rules, such as mlp, gpt, llama or vit; use "
        "another model, or parallel.tensor=1");
  }
  std::set<std::string> is_taken;
  for (const SplitRule& rule : rules) {
    bool is_found = false;
    const bool is_vocabulary = rule.cut == SplitRule::Cut::Vocabulary;
    if (is_vocabulary && (rule.unit != 1 || rule.parts != 1)) {
      refuse("the split rule for \"" + rule.layers +
             "\" cuts a vocabulary, which has no units or parts; remove them");
    }
    for (const Layer& layer : layers) {
      if (!optim::is_match(rule.layers, layer.name)) continue;
      if (!is_vocabulary && layer.linear == nullptr) {
        refuse("a split rule cuts the embedding " + layer.name + "; use Cut::Vocabulary for it");
      }
      if (!is_taken.insert(layer.name).second) {
        refuse("two split rules match the layer " + layer.name + "; narrow one of them");
      }
      is_found = true;
      visit(layer, rule);
    }
    if (!is_found) refuse("a split rule names \"" + rule.layers + "\", but no layer is called so");
  }
}

// The dimension `dim` of a parameter, cut by the rule. The others are whole.
mesh::Layout layout_of(const at::Tensor& parameter, std::int64_t dim, const SplitRule& rule,
                       const std::string& layer, int ranks) {
  const std::int64_t size = parameter.size(dim);
  const std::int64_t units = size / rule.parts / rule.unit;
  const std::string what = (rule.what.empty() ? layer : rule.what) + " = " + std::to_string(units);
  const bool is_divided = rule.what.empty() ? units >= ranks : units % ranks == 0;
  if (!is_divided || units * rule.unit * rule.parts != size) {
    refuse(what + " cannot be split over parallel.tensor = " + std::to_string(ranks) +
           "; use a number of ranks that divides it");
  }
  std::vector<std::vector<std::int64_t>> factors;
  int cut = 0;
  for (std::int64_t d = 0; d < parameter.dim(); ++d) {
    if (d != dim) {
      factors.push_back({parameter.size(d)});
      if (d < dim) ++cut;
      continue;
    }
    std::vector<std::int64_t>& own = factors.emplace_back();
    if (rule.parts > 1) {
      own.push_back(rule.parts);
      ++cut;
    }
    own.push_back(units);
    if (rule.unit > 1) own.push_back(rule.unit);
  }
  return mesh::Layout(mesh::View::split(factors), {{kTensorAxis, cut}});
}

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// Those that blocks read although the model does not have them: tied weights of other stages.
NamedTensors elsewhere_of(const model::Model& model) {
  const auto* blocks = dynamic_cast<const model::BlockModel*>(&model);
  NamedTensors all;
  if (blocks == nullptr) return all;
  const std::vector<at::Tensor> own = model.parameters();
  for (std::size_t i = 0; i < blocks->paths().size(); ++i) {
    const std::string& path = blocks->paths()[i];
    for (const auto& item : blocks->blocks()[i]->named_parameters()) {
      const auto is_it = [&](const at::Tensor& other) { return other.is_same(item.value()); };
      if (std::ranges::any_of(own, is_it)) continue;
      all.emplace_back(path.empty() ? item.key() : path + "." + item.key(), item.value());
    }
  }
  return all;
}

std::map<const void*, std::string> names_of(const model::Model& model) {
  std::map<const void*, std::string> names;
  for (const auto& item : model.named_parameters()) {
    names.emplace(item.value().unsafeGetTensorImpl(), item.key());
  }
  for (const auto& [name, tensor] : elsewhere_of(model)) {
    names.emplace(tensor.unsafeGetTensorImpl(), name);
  }
  return names;
}

VocabularyShard vocabulary_of(const mesh::Layout& layout, const std::vector<mesh::Place>& places) {
  const mesh::Shard shard = layout.shard(places);
  return {.begin = shard.box().begin[0],
          .count = shard.box().sizes[0],
          .total = layout.view().sizes()[0]};
}

std::vector<VocabularyShard> vocabulary_of_all(const mesh::Layout& layout, int ranks) {
  std::vector<VocabularyShard> all;
  for (int rank = 0; rank < ranks; ++rank) {
    all.push_back(vocabulary_of(layout, {{.axis = kTensorAxis, .index = rank, .size = ranks}}));
  }
  return all;
}

// The elements of a shard, from a tensor that holds the whole parameter.
at::Tensor cut_out(const at::Tensor& whole, const mesh::Shard& shard) {
  at::Tensor view = whole.contiguous().view(shard.view().sizes());
  for (std::size_t d = 0; d < shard.view().sizes().size(); ++d) {
    view = view.narrow(static_cast<std::int64_t>(d), shard.box().begin[d], shard.box().sizes[d]);
  }
  return view.reshape(shard.sizes()).clone();
}

}  // namespace

std::vector<SplitRule> rules_for(const model::Model& model, const std::vector<SplitRule>& rules) {
  const std::vector<Layer> layers = layers_of(model);
  std::vector<SplitRule> own;
  for (const SplitRule& rule : rules) {
    const auto is_named = [&](const Layer& layer) {
      return optim::is_match(rule.layers, layer.name);
    };
    if (std::ranges::any_of(layers, is_named)) own.push_back(rule);
  }
  return own;
}

Layouts layouts_of(const model::Model& model, const std::vector<SplitRule>& rules, int ranks) {
  const auto names = names_of(model);
  Layouts layouts;
  const auto add = [&](const at::Tensor& parameter, std::int64_t dim, const Layer& layer,
                       const SplitRule& rule) {
    if (!parameter.defined()) return;
    layouts.emplace(names.at(parameter.unsafeGetTensorImpl()),
                    layout_of(parameter, dim, rule, layer.name, ranks));
  };
  visit_cut_layers(model, rules, [&](const Layer& layer, const SplitRule& rule) {
    const bool is_of_inputs = rule.cut == SplitRule::Cut::Inputs;
    add(layer.weight(), is_of_inputs ? 1 : 0, layer, rule);
    if (!is_of_inputs) add(layer.bias(), 0, layer, rule);
  });
  return layouts;
}

TensorParallel::TensorParallel(model::Model& model, const mesh::Mesh& mesh,
                               const std::vector<SplitRule>& rules)
    : model_(model),
      places_(mesh.places()),
      layouts_(layouts_of(model, rules, mesh.size(kTensorAxis))) {
  for (const auto& item : model.named_parameters()) {
    starts_.emplace(item.key(), model.start_of(item.key(), item.value()));
  }
  attach(mesh.group(kTensorAxis), rules);
  cut();
}

// Layers of one module have the same input.
void TensorParallel::attach(const comm::Group& group, const std::vector<SplitRule>& rules) {
  const auto names = names_of(model_);
  std::map<std::string, std::shared_ptr<CommonInput>> inputs;  // by the path of the module
  visit_cut_layers(model_, rules, [&](const Layer& layer, const SplitRule& rule) {
    const mesh::Layout& layout = layouts_.at(names.at(layer.weight().unsafeGetTensorImpl()));
    if (layer.embedding != nullptr) {
      layer.embedding->adapters.push_back(
          std::make_shared<VocabularySplit>(group, vocabulary_of(layout, places_)));
    } else if (rule.cut == SplitRule::Cut::Vocabulary) {
      logits_ = vocabulary_of(layout, places_);
      layer.linear->adapters.push_back(
          std::make_shared<LogitsSplit>(group, vocabulary_of_all(layout, group.size())));
    } else if (rule.cut == SplitRule::Cut::Inputs) {
      layer.linear->adapters.push_back(std::make_shared<InputsSplit>(group));
    } else {
      const mesh::Box box = layout.shard(places_).box();
      layer.linear->first_output = box.begin[rule.parts > 1 ? 1 : 0] * rule.unit;
      auto& input = inputs[layer.module];
      if (!input) input = std::make_shared<CommonInput>(group);
      layer.linear->adapters.push_back(std::make_shared<OutputsSplit>(input));
    }
  });
}

// Values that the model's constructor gave are kept, all others come from initialize().
void TensorParallel::cut() {
  const c10::NoGradGuard no_grad;
  for (const auto& item : model_.named_parameters()) {
    at::Tensor parameter = item.value();
    const auto found = layouts_.find(item.key());
    const mesh::Shard shard =
        found == layouts_.end() ? parameter.sizes().vec() : found->second.shard(places_);
    if (starts_.at(item.key()).kind == model::Start::Kind::Keep) {
      if (!shard.is_whole() || !parameter.is_contiguous()) {
        parameter.set_data(cut_out(parameter, shard));
      }
    } else if (!shard.is_whole() || !parameter.is_contiguous()) {
      parameter.set_data(at::empty(shard.sizes(), parameter.options().requires_grad(false)));
    }
  }
  // Their values come from the stage that has them.
  for (const auto& [name, tensor] : elsewhere_of(model_)) {
    const auto found = layouts_.find(name);
    if (found == layouts_.end()) continue;
    tensor.set_data(
        at::empty(found->second.shard(places_).sizes(), tensor.options().requires_grad(false)));
  }
}

void TensorParallel::initialize(std::uint64_t seed) const {
  const c10::NoGradGuard no_grad;
  for (const auto& item : model_.named_parameters()) {
    const auto found = layouts_.find(item.key());
    const model::Start& start = starts_.at(item.key());
    if (found == layouts_.end()) {
      model::fill(item.value(), start, seed, item.key());
      continue;
    }
    const mesh::Shard shard = found->second.shard(places_);
    const mesh::Shard whole(found->second.view());
    const at::Tensor flat = item.value().detach().view({-1});
    mesh::for_each_common(
        {.shard = shard, .count = shard.count()}, {.shard = whole, .count = whole.count()},
        [&](const mesh::CommonRange& range) {
          model::fill_slice(flat.narrow(0, range.a, range.count), range.b, start, seed, item.key());
        });
  }
}

}  // namespace trireme::parallel::tensor
