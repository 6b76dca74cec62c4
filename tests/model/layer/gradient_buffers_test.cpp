// Goal:   layers that write gradients directly to their final memory compute the same gradients:
//         bitwise for a linear layer, within rounding for a table that a head shares.
// Method: homes that count what is borrowed; a small gpt and single layers, compared with the same
//         without homes. float64 within 1e-12: sums of hundreds of terms in another order.

#include "trireme/model/layer/gradient_buffers.h"

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/model/kind/gpt.h"
#include "trireme/model/layer/embedding.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/layer/low_precision_weights.h"

namespace trireme::model {
namespace {

class Lender final : public GradientBuffers {
 public:
  at::Tensor lend(const at::Tensor& parameter) override {
    if (refuses || homes.contains(parameter.unsafeGetTensorImpl())) return {};
    at::Tensor home = torch::full_like(parameter, NAN, torch::MemoryFormat::Contiguous).detach();
    homes[parameter.unsafeGetTensorImpl()] = home;
    return home.alias();
  }
  bool add_rows(const at::Tensor& parameter, const at::Tensor& rows,
                const at::Tensor& values) override {
    if (!homes.contains(parameter.unsafeGetTensorImpl())) return false;
    later.push_back({parameter, rows, values});
    return true;
  }
  // Called when the rest of the gradient is complete.
  void add_now() {
    for (auto& [parameter, rows, values] : later) {
      parameter.mutable_grad().index_add_(0, rows, values);
    }
  }
  bool is_at_home(const at::Tensor& parameter) const {
    const auto found = homes.find(parameter.unsafeGetTensorImpl());
    return found != homes.end() &&
           found->second.const_data_ptr() == parameter.grad().const_data_ptr();
  }

  std::map<const void*, at::Tensor> homes;
  struct Rows {
    at::Tensor parameter, rows, values;
  };
  std::vector<Rows> later;
  bool refuses = false;
};

at::Tensor some(at::IntArrayRef sizes, std::uint64_t seed, at::ScalarType type) {
  return torch::randn(sizes, at::detail::createCPUGenerator(seed), type);
}

TEST(GradientBuffers, OfALinearLayerHoldTheSameBits) {
  for (const bool has_bias : {true, false}) {
    for (const auto& sizes : std::vector<std::vector<std::int64_t>>{{5, 160}, {3, 7, 160}}) {
      Linear layer({.inputs = 160, .outputs = 224, .has_bias = has_bias});
      layer.weight.set_data(some({224, 160}, 1, torch::kFloat));
      std::vector<at::Tensor> wanted, found;
      for (auto* into : {&wanted, &found}) {
        Lender lender;
        const at::Tensor x = some(sizes, 2, torch::kFloat).requires_grad_();
        Context context{.is_training = true};
        if (into == &found) context.homes = &lender;
        layer.zero_grad();
        layer.forward(x, context).square().sum().backward();
        *into = {x.grad().clone(), layer.weight.grad().clone()};
        if (has_bias) into->push_back(layer.bias.grad().clone());
        EXPECT_EQ(lender.is_at_home(layer.weight), into == &found);
      }
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_TRUE(found[i].equal(wanted[i])) << i << ", bias " << has_bias;
      }
    }
  }
}

class Copies final : public LowPrecisionWeights {
 public:
  explicit Copies(const at::Tensor& of) : of_(of), copy_(of.detach().to(torch::kBFloat16)) {}
  at::Tensor copy_of(const at::Tensor& parameter) const override {
    return parameter.is_same(of_) ? copy_ : at::Tensor();
  }

 private:
  at::Tensor of_, copy_;
};

// In 16 bits the weight is read as autocast would cast it, or from an existing copy.
TEST(GradientBuffers, InNarrowTypesHoldTheSameBits) {
  Linear layer({.inputs = 160, .outputs = 224});
  layer.weight.set_data(some({224, 160}, 1, torch::kFloat));
  layer.bias.set_data(some({224}, 3, torch::kFloat));
  const Copies copies(layer.weight);
  std::vector<at::Tensor> wanted;
  for (const auto& [has_homes, has_copies] :
       {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
    Lender lender;
    const at::Tensor x = some({3, 7, 160}, 2, torch::kFloat).requires_grad_();
    const Context context{.is_training = true,
                          .homes = has_homes ? &lender : nullptr,
                          .copies = has_copies ? &copies : nullptr};
    layer.zero_grad();
    at::Tensor out;
    {
      at::autocast::set_autocast_enabled(at::kCPU, true);
      out = layer.forward(x, context);
      at::autocast::clear_cache();
      at::autocast::set_autocast_enabled(at::kCPU, false);
    }
    EXPECT_EQ(out.scalar_type(), torch::kBFloat16);
    out.to(torch::kFloat).square().sum().backward();
    EXPECT_EQ(lender.is_at_home(layer.weight), has_homes);
    const std::vector<at::Tensor> found{out, x.grad(), layer.weight.grad().clone(),
                                        layer.bias.grad().clone()};
    if (wanted.empty()) wanted = found;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(found[i].scalar_type(), wanted[i].scalar_type());
      EXPECT_TRUE(found[i].equal(wanted[i])) << i << ", homes " << has_homes << has_copies;
    }
  }
}

TEST(GradientBuffers, OfATableAddUpWhatTokensRepeat) {
  Embedding table({.rows = 300, .width = 128});
  table.weight.set_data(some({300, 128}, 1, torch::kFloat));
  const at::Tensor tokens = torch::arange(40).remainder(7).reshape({4, 10});
  for (const bool refuses : {false, true}) {
    Lender lender;
    lender.refuses = refuses;
    for (const Context& context :
         {Context{.is_training = true}, Context{.is_training = true, .homes = &lender}}) {
      const at::Tensor before =
          table.weight.grad().defined() ? table.weight.grad().clone() : at::Tensor();
      table.zero_grad();
      table.forward(tokens, context).pow(3).sum().backward();
      if (before.defined()) {
        EXPECT_TRUE(before.equal(table.weight.grad()));
      }
    }
    EXPECT_EQ(lender.is_at_home(table.weight), !refuses);
    table.zero_grad();
  }
}

TEST(GradientBuffers, OfATiedTableTakeBothParts) {
  data::Form form;
  form.input_sizes = {16};
  form.input_type = at::kLong;
  form.classes = 512;
  Gpt gpt({.width = 64, .layers = 1, .heads = 2}, form);
  gpt.to(torch::kDouble);
  initialize(gpt, 3);
  const at::Tensor tokens = torch::arange(32).reshape({2, 16}).remainder(11);
  std::map<std::string, at::Tensor> wanted;
  for (const bool has_homes : {false, true}) {
    Lender lender;
    Context context{.is_training = true};
    if (has_homes) context.homes = &lender;
    gpt.zero_grad();
    gpt.forward(tokens, context).square().sum().backward();
    lender.add_now();
    for (const auto& item : gpt.named_parameters()) {
      if (!has_homes) {
        wanted[item.key()] = item.value().grad().clone();
      } else {
        const double near = 1e-12 * wanted[item.key()].abs().max().item<double>();
        EXPECT_LE((item.value().grad() - wanted[item.key()]).abs().max().item<double>(), near)
            << item.key();
      }
    }
    EXPECT_EQ(lender.later.size(), has_homes ? 1u : 0u);
  }
}

// Gradients that are requested instead of accumulated, or differentiated again, use their own
// memory.
TEST(GradientBuffers, AreForAccumulationAlone) {
  Lender lender;
  const Context context{.is_training = true, .homes = &lender};
  Linear layer({.inputs = 160, .outputs = 224});
  layer.weight.set_data(some({224, 160}, 1, torch::kDouble));
  layer.bias.set_data(some({224}, 3, torch::kDouble));
  Embedding table({.rows = 300, .width = 160});
  table.weight.set_data(some({300, 160}, 4, torch::kDouble));
  const at::Tensor tokens = torch::arange(6);
  const auto loss = [&](const Context& how) {
    return layer.forward(table.forward(tokens, how), how).pow(3).sum();
  };
  std::vector<at::Tensor> second;
  for (const Context& how : {Context{.is_training = true}, context}) {
    const auto first = torch::autograd::grad({loss(how)}, {layer.weight, table.weight}, {}, true,
                                             /*create_graph=*/true);
    second.push_back(torch::autograd::grad({first[0].sum() + first[1].sum()}, {layer.weight})[0]);
  }
  EXPECT_TRUE(torch::allclose(second[0], second[1], 1e-12, 0));
  torch::autograd::grad({loss(context)}, {layer.weight, table.weight});
  EXPECT_TRUE(lender.homes.empty());
  loss(context).backward();
  EXPECT_TRUE(lender.is_at_home(layer.weight));
}

TEST(GradientBuffers, AreLeftAloneWhereNothingIsToBeWon) {
  Lender lender;
  const Context context{.is_training = true, .homes = &lender};
  const at::Tensor small = torch::ones({8, 8}).requires_grad_();
  const at::Tensor large = torch::ones({256, 256}).requires_grad_();
  EXPECT_FALSE(homes_for(small, context));
  EXPECT_FALSE(homes_for(large.detach(), context));
  EXPECT_FALSE(homes_for(large, {}));
  EXPECT_TRUE(homes_for(large, context));
  const torch::NoGradGuard no_grad;
  EXPECT_FALSE(homes_for(large, context));
}

}  // namespace
}  // namespace trireme::model
