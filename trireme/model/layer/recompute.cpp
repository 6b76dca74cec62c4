#include "trireme/model/layer/recompute.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/device/torch/autocast.h"
#include "trireme/device/torch/random_state.h"

namespace trireme::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Inputs = std::array<at::Tensor, kRecomputedTensorsMax>;

// Sets autocast and random numbers as the first run found them, during its lifetime.
class Replay {
 public:
  Replay(at::Device device, at::ScalarType type, const RandomState& random)
      : autocast_(device.type(), type), before_(RandomState::now(device)) {
    random.restore();
  }
  ~Replay() { before_.restore(); }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

 private:
  Autocast autocast_;
  RandomState before_;
};

// Converts activations to a flat list and back.
struct ActivationList {
  std::vector<std::string> names;
  std::size_t losses = 0;

  explicit ActivationList(const Activations& all) : losses(all.losses.size()) {
    for (const auto& [name, tensor] : all.others()) names.push_back(name);
  }
  static variable_list pack(const Activations& all) {
    variable_list list = all.tensors();
    TRIREME_CHECK(list.size() <= kRecomputedTensorsMax, "recomputation supports ",
                  kRecomputedTensorsMax, " tensors at most, not ", list.size());
    return list;
  }
  Activations unpack(const variable_list& list) const {
    Activations all(list[0]);
    for (std::size_t i = 0; i < names.size(); ++i) all.set(names[i], list[1 + i]);
    all.losses.assign(list.begin() + 1 + static_cast<std::ptrdiff_t>(names.size()), list.end());
    return all;
  }
  std::size_t count() const { return 1 + names.size() + losses; }
};

// What the second run needs; autograd's context holds it.
struct RecomputedCall : torch::CustomClassHolder {
  RecomputedCall(std::shared_ptr<Block> b, const Activations& in, const Context& c)
      : block(std::move(b)),
        inputs(in),
        context(c),
        device(in.main.device()),
        type(Autocast::type_on(device.type())),
        random(RandomState::now(device)) {}

  variable_list run(const variable_list& list) {
    const Activations out = block->forward(inputs.unpack(list), context);
    outputs = std::make_unique<ActivationList>(out);
    return ActivationList::pack(out);
  }

  std::shared_ptr<Block> block;
  ActivationList inputs;
  Context context;
  at::Device device;
  at::ScalarType type;  // of autocast
  RandomState random;
  std::unique_ptr<ActivationList> outputs;
};

struct Recomputation : torch::autograd::Function<Recomputation> {
  // `anchor` requires gradients: without it the first block, whose input is data, would have no
  // node in the graph, and its parameters no gradients.
  template <class... Tensors>
  static variable_list forward(AutogradContext* ctx, c10::intrusive_ptr<RecomputedCall> call,
                               const at::Tensor& /*anchor*/, const Tensors&... all) {
    const Inputs inputs = {all...};
    variable_list list(inputs.begin(), inputs.begin() + call->inputs.count());
    ctx->save_for_backward(list);
    for (at::Tensor& tensor : list) tensor = tensor.detach();
    variable_list out = call->run(list);
    ctx->saved_data["call"] = c10::IValue::make_capsule(call);
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const auto holder = ctx->saved_data["call"].toCapsule();
    RecomputedCall& call = static_cast<RecomputedCall&>(*holder);
    variable_list inputs = ctx->get_saved_variables();
    for (at::Tensor& input : inputs) {
      input = input.detach().set_requires_grad(input.requires_grad());
    }
    variable_list roots, root_gradients;
    {
      const Replay replay(call.device, call.type, call.random);
      const at::AutoGradMode with_gradients(true);
      const variable_list outputs = call.run(inputs);
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!outputs[i].requires_grad() || !gradients[i].defined()) continue;
        roots.push_back(outputs[i]);
        root_gradients.push_back(gradients[i]);
      }
    }
    if (!roots.empty()) torch::autograd::backward(roots, root_gradients);
    variable_list result(2 + kRecomputedTensorsMax);
    for (std::size_t i = 0; i < inputs.size(); ++i) result[2 + i] = inputs[i].grad();
    return result;
  }
};

}  // namespace

Activations recompute(const std::shared_ptr<Block>& block, Activations in, const Context& context) {
  if (!at::GradMode::is_enabled()) return block->forward(std::move(in), context);
  const auto call = c10::make_intrusive<RecomputedCall>(block, in, context);
  variable_list list = ActivationList::pack(in);
  // Autograd takes a fixed number of tensors, all of them defined.
  list.resize(kRecomputedTensorsMax, at::empty({0}));
  const at::Tensor anchor =
      at::empty({0}, in.main.options().dtype(at::kFloat)).set_requires_grad(true);
  const variable_list out = Recomputation::apply(call, anchor, list[0], list[1], list[2], list[3],
                                                 list[4], list[5], list[6], list[7]);
  return call->outputs->unpack(out);
}

}  // namespace trireme::model
