// Goal:   fifty steps give PyTorch's losses, on one rank and on several, alone and against its DDP.
// Method: tests/train/reference.py writes weights, samples and losses; the same weights and batches
//         with AdamW, decay on matrices alone and clipping must stay within 1e-4 of every loss.

#include "tests/folders.h"
#include "tests/train/tiny_job.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/data/memory/tensor_source.h"
#include "trireme/testing/command_process.h"

namespace trireme::train {
namespace {

constexpr int kReferenceSteps = 50;
constexpr std::int64_t kSamples = 8 * kReferenceSteps;

struct ReferenceConfig {
  static void describe(config::Fields<ReferenceConfig>&) {}
};

class TrainReference : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>("train-reference");
    testing::CommandProcess python(
        {.command = {python_program(), source_folder() + "/tests/train/reference.py",
                     folder_->path().string()},
         .environment = {{"OMP_NUM_THREADS", "1"}}});
    ASSERT_EQ(python.wait_exit(Deadline::after(std::chrono::minutes(3))), 0) << python.error();
  }
  static void TearDownTestSuite() { folder_.reset(); }

  static at::Tensor read(const std::string& model, const std::string& name,
                         std::vector<std::int64_t> sizes, at::ScalarType type = at::kFloat) {
    const std::string path = (folder_->path() / model / (name + ".bin")).string();
    const std::string bytes = read_file(path);
    at::Tensor tensor = torch::empty(sizes, type);
    EXPECT_EQ(bytes.size(), tensor.nbytes()) << path;
    if (bytes.size() == tensor.nbytes()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
    return tensor;
  }

  static Kinds kinds_for(const std::string& model) {
    Kinds kinds = built_in_kinds();
    kinds.data.add<ReferenceConfig>("reference", "", [model](const ReferenceConfig&) {
      const bool is_text = model == "gpt";
      const at::Tensor x = is_text ? read(model, "input", {kSamples, 12}, at::kLong)
                                   : read(model, "input", {kSamples, 1, 8, 8});
      const at::Tensor y = is_text ? read(model, "target", {kSamples, 12}, at::kLong)
                                   : read(model, "target", {kSamples}, at::kLong);
      return data::Sets{
          std::make_shared<data::memory::TensorSource>(
              x, y, data::memory::TensorSource::Options{.classes = is_text ? 17 : 10}),
          nullptr};
    });
    return kinds;
  }

  static std::string recipe_for(const std::string& model) {
    std::string text = "[model]\nkind = \"" + model + "\"\n";
    if (model == "mlp") text += "hidden_sizes = [33]\n";
    if (model == "cnn") text += "channels = [4, 6]\nhidden_size = 12\n";
    if (model == "gpt") text += "hidden_size = 16\nnum_layers = 2\nnum_heads = 2\n";
    return text +
           "[data]\nkind = \"reference\"\nshuffle = false\n[train]\nglobal_batch_size = "
           "8\nnum_threads = 1\n"
           "[optim]\nkind = \"adamw\"\nlr = 3e-3\nweight_decay = 0.1\nmax_grad_norm = 1\n";
  }

  static void compare(const std::string& model, int ranks, const std::string& kind,
                      const std::string& losses) {
    const Kinds kinds = kinds_for(model);
    const config::Config config = config::read_config(
        recipe_schema(kinds),
        {.files = {{"reference", recipe_for(model)}}, .overrides = {"sync.kind=" + kind}});
    const Trained mine = train_threads(config, ranks, kReferenceSteps, kinds, [&](Job& job) {
      const torch::NoGradGuard no_grad;
      for (const auto& item : job.model->named_parameters()) {
        item.value().copy_(read(model, item.key(), item.value().sizes().vec()));
      }
    });
    const at::Tensor theirs = read(model, losses, {kReferenceSteps});
    for (int step = 0; step < kReferenceSteps; ++step) {
      ASSERT_NEAR(mine.losses[static_cast<std::size_t>(step)], theirs[step].item<float>(), 1e-4)
          << model << " on " << ranks << ", " << kind << ", step " << step;
    }
  }

  static std::unique_ptr<TemporaryFolder> folder_;
};

std::unique_ptr<TemporaryFolder> TrainReference::folder_;

TEST_F(TrainReference, FiftyStepsAlone) {
  for (const char* model : {"mlp", "cnn", "gpt"}) compare(model, 1, "auto", "losses");
}

TEST_F(TrainReference, FiftyStepsOfTwoRanksAgainstDdp) {
  for (const char* model : {"mlp", "cnn", "gpt"}) {
    for (const char* kind : {"all_reduce", "shared", "zero1", "zero2", "zero3"}) {
      compare(model, 2, kind, "losses_ddp");
    }
  }
}

TEST_F(TrainReference, FiftyStepsOfTwoRanksAgainstFsdp) {
  for (const char* model : {"mlp", "cnn", "gpt"}) compare(model, 2, "zero3", "losses_fsdp");
}

}  // namespace
}  // namespace trireme::train
