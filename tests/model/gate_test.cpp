// Goal:   a gate is notified of every block just before it runs, in forward and in backward, with
//         and without recomputation, and of no backward if there is none.
// Method: a gate that records its calls, on a small gpt; and one that corrupts the weights of
//         blocks that do not run, which must not change any gradient.

#include "trireme/model/gate.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/model/kind/gpt.h"
#include "trireme/model/start.h"

namespace trireme::model {
namespace {

data::Form gate_form() {
  data::Form form;
  form.input_sizes = {6};
  form.input_type = at::kLong;
  form.classes = 11;
  return form;
}

std::shared_ptr<Gpt> gate_gpt(bool is_recomputed) {
  auto gpt = std::make_shared<Gpt>(
      GptConfig{.width = 16, .layers = 2, .heads = 2, .tie_word_embeddings = false}, gate_form());
  initialize(*gpt, 7);
  gpt->set_recompute(is_recomputed);
  return gpt;
}

at::Tensor gate_tokens() {
  return torch::arange(12).reshape({2, 6}).remainder(11);
}

class Diary final : public Gate {
 public:
  void reach(std::size_t block, PassDirection pass) override {
    said += (pass == PassDirection::Forward ? "f" : "b") + std::to_string(block) + " ";
  }
  std::string said;
};

// Blocks that are not running contain invalid values.
class Poison final : public Gate {
 public:
  explicit Poison(Gpt& gpt) {
    for (const auto& block : gpt.blocks()) {
      for (const at::Tensor& parameter : block->parameters()) {
        values_.emplace_back(parameter, parameter.detach().clone());
      }
      ends_.push_back(values_.size());
    }
  }
  void reach(std::size_t block, PassDirection) override {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const bool is_mine = i < ends_[block] && (block == 0 || i >= ends_[block - 1]);
      // Changed without autograd, like memory that is released and restored.
      at::Tensor data = values_[i].first.variable_data();
      if (is_mine)
        data.copy_(values_[i].second);
      else
        data.fill_(NAN);
    }
  }

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> values_;
  std::vector<std::size_t> ends_;
};

TEST(Gate, HearsOfEveryBlockBothWays) {
  for (const bool is_recomputed : {false, true}) {
    const auto gpt = gate_gpt(is_recomputed);
    const auto diary = std::make_shared<Diary>();
    gpt->set_gate(diary);
    gpt->forward(gate_tokens(), {.is_training = true}).sum().backward();
    EXPECT_EQ(diary->said, "f0 f1 f2 f3 f4 f5 b5 b4 b3 b2 b1 b0 ") << is_recomputed;
    diary->said.clear();
    {
      const torch::NoGradGuard no_grad;
      gpt->forward(gate_tokens(), {});
    }
    EXPECT_EQ(diary->said, "f0 f1 f2 f3 f4 f5 ");
    gpt->set_gate(nullptr);
    gpt->forward(gate_tokens(), {});
    EXPECT_EQ(diary->said, "f0 f1 f2 f3 f4 f5 ");
  }
}

TEST(Gate, BlocksThatDoNotRunNeedNoWeights) {
  for (const bool is_recomputed : {false, true}) {
    const auto plain = gate_gpt(is_recomputed), poisoned = gate_gpt(is_recomputed);
    poisoned->set_gate(std::make_shared<Poison>(*poisoned));
    for (const auto& gpt : {plain, poisoned}) {
      gpt->forward(gate_tokens(), {.is_training = true}).square().sum().backward();
    }
    const auto wanted = plain->named_parameters(), found = poisoned->named_parameters();
    for (const auto& item : wanted) {
      EXPECT_TRUE(found[item.key()].grad().equal(item.value().grad())) << item.key();
    }
  }
}

}  // namespace
}  // namespace trireme::model
