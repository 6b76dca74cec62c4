// Goal:   a model that is cut over 1 to 4 ranks computes what the whole model does: the loss and
// the
//         gradient of every weight, with dropout; its initial weights are bit for bit those of the
//         whole model, and no rank has memory for the whole of a cut weight. What cannot be cut is
//         refused with the setting and the numbers.
// Method: ranks as threads, in float64, compared with one rank. The order in which partial sums are
//         added differs, so results may differ in the last bits: 1e-9 relative to values near 1.

#include "trireme/parallel/tensor/tensor_parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <map>

#include "tests/model/make_model.h"
#include "trireme/base/error.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/model/split_rule.h"
#include "trireme/model/without_memory.h"
#include "trireme/parallel/tensor/split_layers.h"
#include "trireme/testing/code_of.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::tensor {
namespace {

constexpr std::uint64_t kSeed = 5;
constexpr double kTolerance = 1e-9;

struct CutModel {
  std::string name;
  std::vector<std::string> settings;
  trireme::data::Form form;
  at::Tensor input, target;
};

trireme::data::Form text_form(std::int64_t vocabulary) {
  return {.input_sizes = {6},
          .input_type = at::kLong,
          .target_sizes = {6},
          .target_type = at::kLong,
          .classes = vocabulary};
}

// A vocabulary of 13 is cut into parts of different sizes.
CutModel text_model(const std::string& name, std::vector<std::string> settings) {
  constexpr int kWords = 13;
  return {.name = name,
          .settings = std::move(settings),
          .form = text_form(kWords),
          .input = torch::arange(18).mul(7).remainder(kWords).view({3, 6}),
          .target = torch::arange(18).mul(5).remainder(kWords).view({3, 6})};
}

std::vector<CutModel> cut_models() {
  return {
      text_model("gpt", {"hidden_size=16", "num_layers=2", "num_heads=4", "dropout=0.1",
                         "attention_dropout=0.2"}),
      text_model("gpt", {"hidden_size=8", "num_layers=1", "num_heads=4",
                         "tie_word_embeddings=false", "bias=false"}),
      text_model("llama", {"hidden_size=32", "num_layers=2", "num_heads=8", "num_kv_heads=4",
                           "intermediate_size=27"}),
      {.name = "vit",
       .settings = {"hidden_size=16", "num_layers=2", "num_heads=4", "patch_size=4", "dropout=0.1"},
       .form = {.input_sizes = {1, 8, 8}, .classes = 5},
       .input = torch::linspace(-1, 1, 192, torch::kDouble).view({3, 1, 8, 8}),
       .target = torch::tensor({0, 3, 1})},
      {.name = "mlp",
       .settings = {"hidden_sizes=[9, 7, 6, 5]", "dropout=0.2"},
       .form = {.input_sizes = {2, 3}, .classes = 5},
       .input = torch::linspace(-1, 1, 18, torch::kDouble).view({3, 2, 3}),
       .target = torch::tensor({0, 3, 1})}};
}

std::shared_ptr<model::Model> built(const CutModel& from) {
  return model::make_model(from.name, from.settings, from.form);
}

at::Tensor loss_of(const CutModel& from, model::Model& model, const model::Loss& loss) {
  const at::Tensor output = model.forward(from.input, {.is_training = true, .seed = 3, .step = 2});
  return loss.sum(output, from.target);
}

at::Tensor part_of(const at::Tensor& whole, const mesh::Layout& layout, int rank, int ranks) {
  const mesh::Shard shard = layout.shard({{.axis = kTensorAxis, .index = rank, .size = ranks}});
  at::Tensor view = whole.contiguous().view(shard.view().sizes());
  for (std::size_t d = 0; d < shard.box().sizes.size(); ++d) {
    view = view.narrow(static_cast<std::int64_t>(d), shard.box().begin[d], shard.box().sizes[d]);
  }
  return view.reshape(shard.sizes());
}

class CutOverRanks : public ::testing::TestWithParam<std::tuple<int, int>> {
 protected:
  const CutModel from_ = cut_models()[static_cast<std::size_t>(std::get<0>(GetParam()))];
  const int ranks_ = std::get<1>(GetParam());

  void check(const comm::Group& group, model::Model& whole, double loss) const {
    std::shared_ptr<model::Model> model;
    {
      const model::WithoutMemory none;
      model = built(from_);
    }
    const mesh::Mesh mesh(group, {{.name = kTensorAxis, .size = ranks_}});
    const TensorParallel cut(*model, mesh, model->split_rules());
    model->to(torch::kDouble);
    cut.initialize(kSeed);
    model->train();
    const auto all = whole.named_parameters();
    for (const auto& item : model->named_parameters()) {
      EXPECT_TRUE(item.value().equal(expected(item.key(), all[item.key()], cut, group.rank())))
          << item.key();
      EXPECT_EQ(item.value().storage().nbytes(), item.value().nbytes()) << item.key();
    }
    auto entropy = model::cross_entropy();
    const auto own = cut.logits() ? sharded(*entropy, group, *cut.logits()) : entropy;
    const at::Tensor mine = loss_of(from_, *model, *own);
    EXPECT_NEAR(mine.item<double>(), loss, kTolerance * loss);
    mine.backward();
    for (const auto& item : model->named_parameters()) {
      const at::Tensor wanted = expected(item.key(), all[item.key()].grad(), cut, group.rank());
      EXPECT_LT((item.value().grad() - wanted).abs().max().item<double>(), kTolerance)
          << item.key();
    }
  }

  at::Tensor expected(const std::string& name, const at::Tensor& whole, const TensorParallel& cut,
                      int rank) const {
    const auto found = cut.layouts().find(name);
    return found == cut.layouts().end() ? whole : part_of(whole, found->second, rank, ranks_);
  }
};

TEST_P(CutOverRanks, ComputesWhatOneRankDoes) {
  const auto whole = built(from_);
  whole->to(torch::kDouble);
  model::initialize(*whole, kSeed);
  whole->train();
  const at::Tensor loss = loss_of(from_, *whole, *model::cross_entropy());
  loss.backward();
  const auto groups = comm::connect_threads(ranks_, {.timeout = std::chrono::seconds(60)});
  testing::run_rank_threads(ranks_, [&](int rank) {
    check(groups[static_cast<std::size_t>(rank)], *whole, loss.item<double>());
  });
}

// An evaluation sees all logits, on every rank.
TEST_P(CutOverRanks, EvaluatesLikeOneRank) {
  const auto whole = built(from_);
  whole->to(torch::kDouble);
  model::initialize(*whole, kSeed);
  const at::Tensor wanted = whole->forward(from_.input, {});
  const auto groups = comm::connect_threads(ranks_, {.timeout = std::chrono::seconds(60)});
  testing::run_rank_threads(ranks_, [&](int rank) {
    const auto model = built(from_);
    const mesh::Mesh mesh(groups[static_cast<std::size_t>(rank)],
                          {{.name = kTensorAxis, .size = ranks_}});
    const TensorParallel cut(*model, mesh, model->split_rules());
    model->to(torch::kDouble);
    cut.initialize(kSeed);
    const at::Tensor output = model->forward(from_.input, {});
    EXPECT_LT((output - wanted).abs().max().item<double>(), kTolerance);
  });
}

INSTANTIATE_TEST_SUITE_P(
    Models, CutOverRanks, ::testing::Combine(::testing::Range(0, 5), ::testing::Values(1, 2, 4)),
    [](const auto& of) {
      return cut_models()[static_cast<std::size_t>(std::get<0>(of.param))].name +
             std::to_string(std::get<0>(of.param)) + "_over" +
             std::to_string(std::get<1>(of.param));
    });

TEST(TensorParallel, NamesTheSettingThatCannotBeSplit) {
  const CutModel from = text_model("gpt", {"hidden_size=18", "num_heads=6"});
  const auto model = built(from);
  try {
    layouts_of(*model, model->split_rules(), 4);
    FAIL() << "six heads were split over four ranks";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    EXPECT_THAT(error.message(), ::testing::HasSubstr("num_heads = 6 cannot be split over"));
  }
}

TEST(TensorParallel, RefusesModelsWithoutRulesAndRulesWithoutLayers) {
  for (const auto& [name, settings] : std::map<std::string, std::vector<std::string>>{
           {"logistic", {}}, {"mlp", {"hidden_sizes=[]"}}}) {
    const auto model = model::make_model(name, settings, {.input_sizes = {4}, .classes = 3});
    EXPECT_EQ(testing::code_of([&] { layouts_of(*model, model->split_rules(), 2); }),
              ErrorCode::InvalidInput)
        << name;
  }
  const auto gpt = built(text_model("gpt", {"num_layers=1"}));
  EXPECT_EQ(testing::code_of([&] { layouts_of(*gpt, {{.layers = "no.such.layer"}}, 2); }),
            ErrorCode::InvalidInput);
}

TEST(TensorParallel, RefusesRulesThatContradictThemselves) {
  using enum model::SplitRule::Cut;
  const auto gpt = built(text_model("gpt", {"num_layers=1", "num_heads=2", "hidden_size=8"}));
  const auto code_of = [&](const std::vector<model::SplitRule>& rules) {
    return testing::code_of([&] { layouts_of(*gpt, rules, 2); });
  };
  EXPECT_EQ(code_of({{.layers = "transformer.wte", .cut = Vocabulary, .unit = 2}}),
            ErrorCode::InvalidInput);
  EXPECT_EQ(code_of({{.layers = "transformer.wte", .cut = Outputs}}), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of({{.layers = "*.c_fc"}, {.layers = "transformer.h.0.mlp.*"}}),
            ErrorCode::InvalidInput);
}

// A rule of the user's own: only the mlp of the first layer.
TEST(TensorParallel, FollowsTheRulesOfTheCaller) {
  const auto gpt = built(text_model("gpt", {"hidden_size=8", "num_layers=2", "num_heads=2"}));
  const Layouts layouts =
      layouts_of(*gpt,
                 {{.layers = "transformer.h.0.mlp.c_fc"},
                  {.layers = "transformer.h.0.mlp.c_proj", .cut = model::SplitRule::Cut::Inputs}},
                 2);
  std::vector<std::string> names;
  for (const auto& [name, layout] : layouts) names.push_back(name);
  EXPECT_THAT(names, ::testing::ElementsAre("transformer.h.0.mlp.c_fc.bias",
                                            "transformer.h.0.mlp.c_fc.weight",
                                            "transformer.h.0.mlp.c_proj.weight"));
}

}  // namespace
}  // namespace trireme::parallel::tensor
