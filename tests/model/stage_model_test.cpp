// Goal:   a part of a model has the names and, bit for bit, the initial values of the whole model,
//         and memory for its own parameters only; a tied tensor that is elsewhere is no parameter
//         of it. A stage has no forward pass of its own.
// Method: all parts of a small gpt and of a resnet, compared with the whole models.

#include "trireme/model/stage_model.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/model/make_model.h"
#include "trireme/base/error.h"
#include "trireme/model/block_range.h"
#include "trireme/model/without_memory.h"
#include "trireme/testing/code_of.h"

namespace trireme::model {
namespace {

std::shared_ptr<BlockModel> stage_source(const std::string& kind) {
  const bool is_text = kind == "gpt";
  const data::Form form =
      is_text ? data::Form{.input_sizes = {6}, .input_type = at::kLong, .classes = 11}
              : data::Form{.input_sizes = {1, 8, 8}, .classes = 5};
  const std::vector<std::string> settings =
      is_text ? std::vector<std::string>{"hidden_size=8", "num_layers=2", "num_heads=2"}
              : std::vector<std::string>{"base_channels=2"};
  return std::dynamic_pointer_cast<BlockModel>(make_model(kind, settings, form));
}

std::shared_ptr<BlockModel> stage_source_without_memory(const std::string& kind) {
  const WithoutMemory none;
  return stage_source(kind);
}

TEST(StageModelTest, PartsHaveTheInitialValuesOfTheWholeModel) {
  for (const char* kind : {"gpt", "resnet"}) {
    const auto whole = stage_source(kind);
    initialize(*whole, 3);
    std::map<std::string, at::Tensor> found;
    const std::size_t blocks = whole->blocks().size();
    for (const BlockRange range : {BlockRange{0, 2}, BlockRange{2, 3}, BlockRange{3, blocks}}) {
      const auto source = stage_source_without_memory(kind);
      std::vector<at::Tensor> elsewhere;
      for (const TiedTensor& tied : tied_tensors(*source)) {
        if (tied.blocks.front() < range.begin) elsewhere.push_back(tied.tensor);
      }
      StageModel stage(source, {range}, elsewhere);
      stage.initialize(3);
      EXPECT_EQ(stage.stages(), (std::vector<BlockRange>{{0, range.count()}}));
      for (const auto& item : stage.named_parameters()) {
        EXPECT_TRUE(found.emplace(item.key(), item.value()).second) << item.key();
      }
      for (std::size_t i = 0; i < blocks; ++i) {
        if (i >= range.begin && i < range.end) continue;
        for (const at::Tensor& other : source->blocks()[i]->parameters()) {
          const bool is_matrix = other.dim() > 1 && elsewhere.empty() && range.begin > 0;
          if (is_matrix) EXPECT_FALSE(other.is_contiguous()) << "no memory";
        }
      }
    }
    ASSERT_EQ(found.size(), whole->named_parameters().size()) << kind;
    for (const auto& item : whole->named_parameters()) {
      EXPECT_TRUE(found.at(item.key()).equal(item.value())) << item.key();
    }
  }
}

TEST(StageModelTest, SeveralRangesAreStagesOfOneModel) {
  const auto source = stage_source_without_memory("gpt");
  StageModel stage(source, {{0, 1}, {3, 5}}, {});
  EXPECT_EQ(stage.stages(), (std::vector<BlockRange>{{0, 1}, {1, 3}}));
  EXPECT_EQ(stage.paths(),
            (std::vector<std::string>{"transformer", "transformer.h.1", "transformer.h.1"}));
  EXPECT_EQ(trireme::testing::code_of([&] { stage.forward({}, {}); }), ErrorCode::Misuse);
}

TEST(StageModelTest, FindsTensorsThatBlocksShare) {
  const auto source = stage_source("gpt");
  const std::vector<TiedTensor> tied = tied_tensors(*source);
  ASSERT_EQ(tied.size(), 1U);
  EXPECT_TRUE(tied[0].tensor.is_same(source->named_parameters()["transformer.wte.weight"]));
  EXPECT_EQ(tied[0].blocks, (std::vector<std::size_t>{0, 5}));
  EXPECT_TRUE(tied_tensors(*stage_source("resnet")).empty());
}

}  // namespace
}  // namespace trireme::model
