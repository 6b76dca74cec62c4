// Goal:   stages of a model on several ranks compute what the whole model computes: outputs, loss
// and
//         the gradient of every weight, bit for bit, with every schedule that can be run, any
//         number of micro-batches, micro-batches without samples, and activation checkpointing.
//         Each rank has memory for its own weights only. A weight that two stages read has the
//         values of its owner, who gets the gradients of both. Shapes that change are an error on
//         all ranks.
// Method: ranks as threads, in float64, compared with one rank that adds up the same micro-batches.

#include "trireme/parallel/pipeline/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/model/make_model.h"
#include "trireme/base/error.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/model/without_memory.h"
#include "trireme/parallel/pipeline/stage_exchange.h"
#include "trireme/parallel/pipeline/stage_split.h"
#include "trireme/parallel/pipeline/tied_weights.h"
#include "trireme/testing/code_of.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::pipeline {
namespace {

using Gradients = std::map<std::string, at::Tensor>;

constexpr std::uint64_t kStagesSeed = 5;
constexpr int kWords = 13;

trireme::data::Form words_form() {
  return {.input_sizes = {6},
          .input_type = at::kLong,
          .target_sizes = {6},
          .target_type = at::kLong,
          .classes = kWords};
}

struct StagedCase {
  std::string model = "gpt";
  std::vector<std::string> settings;
  std::string schedule = "1f1b";
  int ranks = 2;
  int stages_per_rank = 1;
  int micro_batches = 2;
  int empty = -1;  // a micro-batch without samples
  bool is_recomputed = false;
  bool is_ordered = false;
};

std::shared_ptr<model::BlockModel> whole_model(const StagedCase& from) {
  auto made = model::make_model(from.model, from.settings, words_form());
  made->set_recompute(from.is_recomputed);
  return std::dynamic_pointer_cast<model::BlockModel>(made);
}

at::Tensor input_of(int micro_batch) {
  return torch::arange(18).mul(7 + 2 * micro_batch).remainder(kWords).view({3, 6});
}

at::Tensor loss_of_output(const at::Tensor& output) {
  return (output * torch::linspace(-1, 1, output.numel(), torch::kDouble).view_as(output)).sum();
}

model::Context context_of(int micro_batch) {
  return {.is_training = true, .seed = 3, .step = 2, .micro_batch = micro_batch};
}

Gradients gradients_of(const torch::nn::Module& model) {
  Gradients all;
  for (const auto& item : model.named_parameters()) all[item.key()] = item.value().grad();
  return all;
}

Gradients of_one_rank(const StagedCase& from) {
  const auto model = whole_model(from);
  model->to(torch::kDouble);
  model::initialize(*model, kStagesSeed);
  for (int i = 0; i < from.micro_batches; ++i) {
    if (i == from.empty) continue;
    loss_of_output(model->forward(input_of(i), context_of(i))).backward();
  }
  return gradients_of(*model);
}

std::vector<BlockSize> block_sizes(const model::BlockModel& model) {
  std::vector<BlockSize> sizes;
  for (std::size_t i = 0; i < model.paths().size(); ++i) {
    sizes.push_back({model.paths()[i], model::parameter_count(*model.blocks()[i])});
  }
  return sizes;
}

// The stages of one rank, with the initial values of the whole model.
struct OwnStages {
  OwnStages(const StagedCase& from, const comm::Group& group) {
    std::shared_ptr<model::BlockModel> whole;
    {
      const model::WithoutMemory none;
      whole = whole_model(from);
    }
    const ScheduleRecord& schedule = schedule_named(from.schedule);
    const StagePlacement placement =
        schedule.placement({.ranks = from.ranks, .stages_per_rank = from.stages_per_rank});
    const auto split = split_into_stages(block_sizes(*whole), placement.stages(), {});
    std::vector<TiedWeight> tied = tied_weights(*whole, split, placement);
    std::vector<at::Tensor> elsewhere;
    for (const TiedWeight& one : tied) {
      if (one.owner != group.rank()) elsewhere.push_back(one.tensor);
    }
    std::vector<model::BlockRange> own;
    for (const int stage : placement.stages_of(group.rank())) {
      own.push_back(split[static_cast<std::size_t>(stage)]);
    }
    model = std::make_shared<model::StageModel>(whole, own, elsewhere);
    for (const at::Tensor& parameter : whole->parameters()) {
      parameter.set_data(at::zeros({}, at::kDouble).expand(parameter.sizes()));
    }
    model->initialize(kStagesSeed);
    bytes_elsewhere = 0;
    for (const at::Tensor& parameter : whole->parameters()) {
      const bool is_own = [&] {
        for (const at::Tensor& one : model->parameters()) {
          if (one.is_same(parameter)) return true;
        }
        return false;
      }();
      if (!is_own && parameter.storage().nbytes() > sizeof(double)) {
        bytes_elsewhere += parameter.storage().nbytes();
      }
    }
    pipeline = std::make_unique<Pipeline>(Pipeline::Parts{.model = model,
                                                          .schedule = &schedule,
                                                          .stages_per_rank = from.stages_per_rank,
                                                          .group = group,
                                                          .tied = std::move(tied),
                                                          .is_ordered = from.is_ordered});
  }

  void run(const StagedCase& from) {
    std::vector<std::string> shapes;
    for (int i = 0; i < from.micro_batches; ++i) {
      shapes.push_back(i == from.empty ? "" : shape_of(input_of(i)));
    }
    pipeline->begin_step(shapes);
    std::map<int, at::Tensor> losses;
    for (const Action& action : pipeline->schedule(from.micro_batches)) {
      const int i = action.micro_batch;
      if (!action.is_compute()) {
        pipeline->transfer(action);
      } else if (i == from.empty) {
        continue;
      } else if (action.kind == Action::Kind::Forward) {
        const model::Activations out = pipeline->forward(action, input_of(i), context_of(i));
        if (pipeline->is_last(action.stage)) losses[i] = loss_of_output(out.main);
      } else {
        pipeline->backward(action, losses[i]);
        losses.erase(i);
      }
    }
    pipeline->end_step();
  }

  std::shared_ptr<model::StageModel> model;
  std::unique_ptr<Pipeline> pipeline;
  std::size_t bytes_elsewhere = 0;  // of weights that this rank does not have
};

// Of two steps, so that shapes are known in the second one. Gradients of the first are discarded.
Gradients of_stages(const StagedCase& from) {
  at::set_num_threads(1);
  const auto groups = comm::connect_threads(from.ranks, {.timeout = std::chrono::seconds(60)});
  std::vector<Gradients> all(groups.size());
  testing::run_rank_threads(from.ranks, [&](int rank) {
    const comm::Group& group = groups[static_cast<std::size_t>(rank)];
    OwnStages own(from, group);
    EXPECT_EQ(own.bytes_elsewhere, 0U) << "rank " << rank;
    own.run(from);
    for (at::Tensor& parameter : own.model->parameters()) parameter.mutable_grad().reset();
    own.run(from);
    all[static_cast<std::size_t>(rank)] = gradients_of(*own.model);
    group.barrier().wait();
  });
  Gradients together;
  for (const Gradients& of_rank : all) {
    for (const auto& [name, gradient] : of_rank) {
      EXPECT_TRUE(together.emplace(name, gradient).second) << "two ranks have " << name;
    }
  }
  return together;
}

void expect_equal(const Gradients& whole, const Gradients& stages, double tolerance) {
  ASSERT_EQ(whole.size(), stages.size());
  for (const auto& [name, gradient] : whole) {
    const at::Tensor& other = stages.at(name);
    ASSERT_TRUE(other.defined()) << name;
    EXPECT_LE((gradient - other).abs().max().item<double>(), tolerance) << name;
  }
}

std::vector<std::string> untied_settings() {
  return {"hidden_size=16", "num_layers=3",          "num_heads=4",
          "dropout=0.1",    "attention_dropout=0.2", "tie_word_embeddings=false"};
}

TEST(PipelineTest, StagesComputeTheSameBitsAsOneRank) {
  for (const int micro_batches : {1, 2, 5}) {
    for (const int ranks : {2, 3}) {
      for (const char* schedule : {"gpipe", "1f1b", "interleaved_1f1b"}) {
        const bool is_interleaved = std::string(schedule) == "interleaved_1f1b";
        const StagedCase from{.settings = untied_settings(),
                              .schedule = schedule,
                              .ranks = ranks,
                              .stages_per_rank = is_interleaved ? 2 : 1,
                              .micro_batches = micro_batches,
                              .is_recomputed = micro_batches == 2};
        SCOPED_TRACE(std::string(schedule) + " " + std::to_string(ranks) + " ranks " +
                     std::to_string(micro_batches) + " micro-batches");
        expect_equal(of_one_rank(from), of_stages(from), 0);
      }
    }
  }
}

TEST(PipelineTest, MicroBatchesWithoutSamplesHaveNoPasses) {
  for (const int empty : {0, 2}) {
    const StagedCase from{
        .settings = untied_settings(), .ranks = 2, .micro_batches = 3, .empty = empty};
    expect_equal(of_one_rank(from), of_stages(from), 0);
  }
}

TEST(PipelineTest, NamedActivationsTravel) {
  const StagedCase from{.model = "llama",
                        .settings = {"hidden_size=16", "num_layers=2", "num_heads=4",
                                     "num_kv_heads=2", "tie_word_embeddings=false"},
                        .ranks = 3,
                        .micro_batches = 4};
  expect_equal(of_one_rank(from), of_stages(from), 0);
}

// Only the order in which the embedding's gradients are added differs.
TEST(PipelineTest, TheOwnerOfATiedWeightGetsTheGradientsOfAllStages) {
  for (const char* schedule : {"gpipe", "1f1b", "interleaved_1f1b"}) {
    for (const bool is_ordered : {false, true}) {
      StagedCase from{.settings = {"hidden_size=16", "num_layers=2", "num_heads=4"},
                      .schedule = schedule,
                      .ranks = 2,
                      .micro_batches = 3,
                      .empty = is_ordered ? 2 : -1,
                      .is_ordered = is_ordered};
      from.stages_per_rank = schedule_named(schedule).stages_per_rank;
      SCOPED_TRACE(schedule);
      expect_equal(of_one_rank(from), of_stages(from), 1e-12);
    }
  }
}

TEST(PipelineTest, EvaluatesThroughAllStages) {
  const StagedCase from{.settings = {"hidden_size=16", "num_layers=2", "num_heads=4"}, .ranks = 3};
  const auto whole = whole_model(from);
  whole->to(torch::kDouble);
  model::initialize(*whole, kStagesSeed);
  const auto groups = comm::connect_threads(3, {.timeout = std::chrono::seconds(60)});
  testing::run_rank_threads(3, [&](int rank) {
    OwnStages own(from, groups[static_cast<std::size_t>(rank)]);
    own.model->eval();
    const c10::InferenceMode no_gradients;
    own.pipeline->refresh_weights();
    for (int i = 0; i < 4; ++i) {
      const auto last = own.pipeline->evaluate(input_of(i), {.micro_batch = i});
      EXPECT_EQ(last.has_value(), rank == 2);
      if (!last) continue;
      EXPECT_TRUE(last->main.equal(whole->forward(input_of(i), {.micro_batch = i})));
    }
    groups[static_cast<std::size_t>(rank)].barrier().wait();
  });
}

// Two tensors of the same size, and then one of another size.
TEST(PipelineTest, ShapesThatChangeAreAnError) {
  const auto groups = comm::connect_threads(2, {.timeout = std::chrono::seconds(60)});
  testing::run_rank_threads(2, [&](int rank) {
    const comm::Group& group = groups[static_cast<std::size_t>(rank)];
    StageExchange exchange(group, StagePlacement::interleaved(2, 1));
    const auto pass = [&](int micro_batch, std::int64_t size) {
      const Boundary at{.stage = 0, .micro_batch = micro_batch};
      if (rank == 0) {
        const at::Tensor tensor = torch::full({size}, micro_batch);
        exchange.send_activations(at, "same", model::Activations(tensor));
      } else {
        exchange.post_activations(at, "same");
        EXPECT_EQ(exchange.take_activations(at, "same").main.sizes(), at::IntArrayRef({size}));
      }
    };
    pass(0, 4);
    pass(1, 4);
    exchange.finish();
    if (rank == 0) {
      EXPECT_EQ(testing::code_of([&] { pass(2, 5); }), ErrorCode::Mismatch);
    }
    group.barrier().wait();
  });
}

}  // namespace
}  // namespace trireme::parallel::pipeline
