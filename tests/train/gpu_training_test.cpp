// Goal:   a job on a GPU computes what it computes on the CPU; jobs that a GPU does not support yet
//         are refused.
// Method: 20 steps of a tiny model of every kind on both, in float32 without TF32. Losses may
// differ
//         by 1e-4 of their value, because sums have another order and errors add up over steps.
//         Skipped without a GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/tiny_job.h"
#include "trireme/base/error.h"
#include "trireme/device/torch/torch_device.h"
#include "trireme/train/evaluate/evaluation.h"

namespace trireme::train {
namespace {

struct GpuCase {
  const char* model;
  Words words{};
};

const Words kTokenWords{"data.task=tokens", "data.sizes=[6]"};
const Words kImageWords{"data.task=images", "data.sizes=[1,8,8]"};

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<double> losses_on(const std::string& device, const GpuCase& what) {
  Words words = joined(what.words, {"train.device=" + device});
  Job job = open_job(tiny_config(what.model, words), tiny_kinds());
  std::vector<double> losses;
  for (int step = 0; step < 20; ++step) losses.push_back(job.step->run(step).loss);
  const auto scores =
      evaluate(*job.model, {.source = job.sets.test, .loss = job.loss.get(), .batch = 4});
  losses.push_back(scores.loss());
  return losses;
}

TEST(GpuTraining, ComputesWhatTheCpuComputes) {
  at::globalContext().setAllowTF32CuBLAS(false);
  at::globalContext().setAllowTF32CuDNN(false);
  const Words small{"model.hidden_size=8", "model.num_layers=2", "model.num_heads=2"};
  const std::vector<GpuCase> cases{
      {"mlp", {"model.dropout=0.2"}},
      {"cnn"},
      {"resnet"},
      {"gpt", {"model.dropout=0.2"}},
      {"gpt", {"model.activation_checkpointing=true", "model.dropout=0.2"}},
      {"gpt", {"optim.max_grad_norm=0.1", "optim.kind=sgd", "optim.lr=0.1"}},
      {"gpt", {"optim.kind=adafactor"}},
      {"gpt", {"optim.kind=lamb"}},
      {"gpt", {"optim.kind=muon"}},
      {"gpt", {"train.grad_accum_steps=3"}},
      {"gpt", {"train.logical_ranks=4"}},
      {"llama", joined(kTokenWords, small)},
      {"lstm", joined(kTokenWords, {"model.hidden_size=8", "model.num_layers=1"})},
      {"vit", joined(kImageWords, joined(small, {"model.patch_size=4"}))},
  };
  for (const GpuCase& one : cases) {
    SCOPED_TRACE(std::string(one.model) + " " + (one.words.empty() ? "" : one.words.back()));
    try {
      const std::vector<double> cpu = losses_on("cpu", one);
      EXPECT_LT(cpu[19], 2 * cpu[0]) << "it trains";
      if (gpu_count() == 0) continue;
      const std::vector<double> gpu = losses_on("cuda", one);
      for (std::size_t i = 0; i < cpu.size(); ++i) {
        EXPECT_NEAR(gpu[i], cpu[i], 1e-4 * std::abs(cpu[i])) << "step " << i;
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  if (gpu_count() == 0) GTEST_SKIP() << "nothing to compare: this machine or PyTorch has no GPU";
}

// Blocks are computed in bfloat16, by kernels of their own where the widths are multiples of 8.
//
// With the learning rate of tiny jobs, 0.01, this job is chaotic: PyTorch's autocast on the CPU
// changes some loss of 20 steps by 1 % to 31 %, depending on the seed, although those of the first
// five differ by at most 0.2 %. With 0.001 they stay within 0.08 % in all 20 (4 seeds, these
// cases). Here activations between blocks are bfloat16 too, so losses may differ by 1 %; they fall
// by 14 %.
TEST(GpuTraining, In16BitsLossesAreCloseToThoseOfFloat32) {
  if (gpu_count() == 0) GTEST_SKIP() << "this machine or this PyTorch has no GPU";
  const Words size{"model.hidden_size=32", "model.num_layers=2", "model.num_heads=2",
                   "optim.lr=0.001"};
  const std::vector<Words> cases{{},
                                 {"model.dropout=0.2"},
                                 {"model.activation_checkpointing=true"},
                                 {"train.grad_accum_steps=3"},
                                 {"model.bias=false"},
                                 {"model.tie_word_embeddings=false"},
                                 {"optim.max_grad_norm=0.1"},
                                 {"train.logical_ranks=2"},
                                 {"train.fp32_steps=5"}};
  for (const Words& one : cases) {
    SCOPED_TRACE(one.empty() ? "" : one.back());
    try {
      const Words words = joined(size, one);
      const std::vector<double> narrow =
          losses_on("cuda", {"gpt", joined(words, {"train.precision=bf16"})});
      const bool is_switched = !one.empty() && one.back() == "train.fp32_steps=5";
      const std::vector<double> wide = losses_on("cuda", {"gpt", is_switched ? size : words});
      EXPECT_NE(narrow[10], wide[10]);
      for (std::size_t i = 0; i < wide.size(); ++i) {
        EXPECT_NEAR(narrow[i], wide[i], 0.01 * std::abs(wide[i])) << "step " << i;
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(GpuTraining, BatchesLieInMemoryThatIsCopiedWithoutTheHost) {
  if (gpu_count() == 0) GTEST_SKIP() << "this machine or this PyTorch has no GPU";
  for (const bool is_gpu : {true, false}) {
    const std::string device = is_gpu ? "cuda" : "cpu";
    Job job = open_job(tiny_config("mlp", {"train.device=" + device}), tiny_kinds());
    const data::Batch& batch = job.loader().next().batches.at(0);
    EXPECT_EQ(batch.input.is_pinned(), is_gpu);
    EXPECT_EQ(batch.target.is_pinned(), is_gpu);
  }
}

TEST(GpuTraining, RanksThatWouldShareAModelAreRefused) {
  if (gpu_count() == 0) GTEST_SKIP() << "this machine or this PyTorch has no GPU";
  const auto groups = comm::connect_threads(2);
  testing::run_rank_threads(2, [&](int rank) {
    try {
      open_job(tiny_config("mlp", {"train.device=cuda"}), tiny_kinds(),
               groups[static_cast<std::size_t>(rank)]);
      ADD_FAILURE() << "two ranks were accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Unsupported) << error.what();
      EXPECT_THAT(error.message(), ::testing::HasSubstr("-n 1"));
    }
  });
}

}  // namespace
}  // namespace trireme::train
