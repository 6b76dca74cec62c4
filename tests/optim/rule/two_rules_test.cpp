// Goal:   two optimizers in one each update their own slices, bitwise as if each were the only one,
//         also range by range with a guard; a recipe creates them.
// Method: slices of both rules together, compared with each rule by itself.

#include "trireme/optim/rule/two_rules.h"

#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/optim/kinds.h"
#include "trireme/optim/rule/adam.h"
#include "trireme/optim/rule/sgd.h"

namespace trireme::optim {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kElements = kRunMax + 77;

Slice slice_for(int rule, std::size_t states) {
  Slice slice{.value = at::randn({kElements}),
              .gradient = at::randn({kElements}),
              .state = {},
              .learning_rate = 0.1,
              .weight_decay = 0.01,
              .rule = rule};
  for (std::size_t i = 0; i < states; ++i) slice.state.push_back(at::zeros({kElements}));
  return slice;
}

Slice copy_of(const Slice& slice, const std::vector<std::size_t>& states) {
  Slice copy = slice;
  copy.value = slice.value.clone();
  copy.state.clear();
  for (const std::size_t i : states) copy.state.push_back(slice.state[i].clone());
  return copy;
}

class Counts final : public Guard {
 public:
  void before(const Slice&, std::int64_t, std::int64_t count) override { seen += count; }
  std::int64_t seen = 0;
};

TEST(TwoRulesInOne, UpdateWhatIsTheirs) {
  const Adam adam(AdamConfig{});
  const Sgd sgd(SgdConfig{.momentum = 0.9});
  const TwoRules both(std::make_unique<Adam>(AdamConfig{}),
                      std::make_unique<Sgd>(SgdConfig{.momentum = 0.9}));
  EXPECT_THAT(both.state_names(), ElementsAre("exp_avg", "exp_avg_sq", "momentum_buffer"));
  EXPECT_EQ(both.grain(), Grain::Element);
  std::vector<Slice> all{slice_for(0, 3), slice_for(1, 3)};
  Slice first = copy_of(all[0], {0, 1}), second = copy_of(all[1], {2});
  std::vector<Slice> guarded{copy_of(all[0], {0, 1, 2}), copy_of(all[1], {0, 1, 2})};
  Counts guard;
  for (std::int64_t step = 1; step <= 3; ++step) {
    both.update(all, step, 0.5);
    both.update(guarded, step, 0.5, &guard);
    adam.update({&first, 1}, step, 0.5);
    sgd.update({&second, 1}, step, 0.5);
  }
  EXPECT_TRUE(all[0].value.equal(first.value) && all[1].value.equal(second.value));
  EXPECT_TRUE(all[1].state[2].equal(second.state[0]));
  EXPECT_EQ(all[1].state[0].abs().sum().item<float>(), 0) << "not its own";
  for (std::size_t i : {0, 1}) EXPECT_TRUE(guarded[i].value.equal(all[i].value));
  EXPECT_EQ(guard.seen, 3 * 2 * kElements);
  all[0].rule = 2;
  EXPECT_THROW(both.update(all, 4), Error);
}

TEST(TwoRulesInOne, ARecipeMakesThem) {
  config::Schema schema;
  add_optim_sections(schema);
  const auto read = [&](const std::string& text) {
    return read_config(schema, {.files = {{.name = "recipe", .text = text}}});
  };
  EXPECT_FALSE(second_rule_of(read("")).has_value());
  const auto config = read(
      "[optim]\nlr = 0.1\n[optim.second]\nkind = \"muon\"\nnames = [\"a.*\", \"b\"]\n"
      "lr = 0.02\nweight_decay = 0.5\n");
  const auto second = second_rule_of(config);
  ASSERT_TRUE(second.has_value());
  EXPECT_NEAR(second->lr_factor, 0.2, 1e-12);
  EXPECT_EQ(second->weight_decay, 0.5);
  EXPECT_TRUE(second->is_for("a.x") && second->is_for("b") && !second->is_for("c"));
  EXPECT_EQ(make_optimizer(config)->grain(), Grain::WholeTensor);
  EXPECT_THROW(make_optimizer(read("[optim.second]\nkind = \"sgd\"\n")), Error);
}

}  // namespace
}  // namespace trireme::optim
