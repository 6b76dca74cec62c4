// Goal:   with the same weights and batch, the models give PyTorch's logits, loss and gradients.
// Method: tests/model/reference.py writes the results of PyTorch, with attention and layers written
//         out. Every tensor must agree within 1e-5 of its largest value in float32 and 1e-10 in
//         float64: some hundred roundings of each, because sums are computed in another order.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <chrono>

#include "tests/folders.h"
#include "tests/model/make_model.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/model/kind/autoencoder.h"
#include "trireme/model/kind/cnn.h"
#include "trireme/model/kind/gpt.h"
#include "trireme/model/kind/llama.h"
#include "trireme/model/kind/mlp.h"
#include "trireme/model/loss/loss.h"
#include "trireme/testing/command_process.h"

namespace trireme::model {
namespace {

using Sizes = std::vector<std::int64_t>;

class ModelReference : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>("model-reference");
    testing::CommandProcess python(
        {.command = {python_program(), source_folder() + "/tests/model/reference.py",
                     folder_->path().string()}});
    ASSERT_EQ(python.wait_exit(Deadline::after(std::chrono::minutes(2))), 0) << python.error();
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

  static void expect_near(const at::Tensor& mine, const at::Tensor& theirs,
                          const std::string& name) {
    const double largest = theirs.abs().max().item<double>();
    const double share = theirs.scalar_type() == at::kDouble ? 1e-10 : 1e-5;
    EXPECT_LE((mine - theirs).abs().max().item<double>(), share * largest) << name;
  }

  // The name of the model is the name of its folder.
  static void compare(const std::string& name, Model& model, const at::Tensor& input,
                      const at::Tensor& target, const Loss& loss,
                      at::ScalarType type = at::kFloat) {
    model.to(type);
    {
      const torch::NoGradGuard no_grad;
      for (const auto& item : model.named_parameters()) {
        item.value().copy_(read(name, item.key(), item.value().sizes().vec(), type));
      }
    }
    const at::Tensor logits = model.forward(input, {.is_training = true});
    const at::Tensor mean = loss.sum(logits, target) / loss.terms(target);
    mean.backward();
    expect_near(logits.detach(), read(name, "logits", logits.sizes().vec(), type), name);
    expect_near(mean.detach(), read(name, "loss", {}, type), name);
    for (const auto& item : model.named_parameters()) {
      const at::Tensor& gradient = item.value().grad();
      const std::string key = item.key() + ".grad";
      expect_near(gradient, read(name, key, gradient.sizes().vec(), type), name + ": " + key);
    }
  }

  static data::Form images(std::int64_t side) { return of({1, side, side}, 10); }

  static data::Form of(std::vector<std::int64_t> sizes, std::int64_t classes) {
    data::Form form;
    form.input_sizes = std::move(sizes);
    form.classes = classes;
    return form;
  }

  // In float64; `sizes` are those of a batch. Blocks are also recomputed, which must not change
  // anything.
  static void compare_wide(const std::string& name, const std::shared_ptr<Model>& made,
                           const Sizes& sizes, const Sizes& target_sizes) {
    Model& model = *made;
    const bool is_text = target_sizes == sizes;
    const bool is_numbers = name == "linear";
    for (const bool is_recomputed : {false, true}) {
      model.set_recompute(is_recomputed);
      model.zero_grad();
      compare(name, model, read(name, "input", sizes, is_text ? at::kLong : at::kDouble),
              read(name, "target", target_sizes, is_numbers ? at::kDouble : at::kLong),
              is_numbers ? *mse() : *cross_entropy(), at::kDouble);
    }
  }

  static std::unique_ptr<TemporaryFolder> folder_;
};

std::unique_ptr<TemporaryFolder> ModelReference::folder_;

TEST_F(ModelReference, Mlp) {
  Mlp model({.widths = {33, 16}}, images(8));
  compare("mlp", model, read("mlp", "input", {5, 1, 8, 8}), read("mlp", "target", {5}, at::kLong),
          *cross_entropy());
}

TEST_F(ModelReference, Cnn) {
  Cnn model({.channels = {4, 6}, .hidden = 12}, images(28));
  compare("cnn", model, read("cnn", "input", {3, 1, 28, 28}), read("cnn", "target", {3}, at::kLong),
          *cross_entropy({.label_smoothing = 0.1}));
}

TEST_F(ModelReference, Gpt) {
  for (const bool is_recomputed : {false, true}) {
    Gpt model({.vocabulary = 17, .context = 12, .width = 16, .layers = 2, .heads = 2}, {});
    model.set_recompute(is_recomputed);
    compare("gpt", model, read("gpt", "input", {3, 12}, at::kLong),
            read("gpt", "target", {3, 12}, at::kLong), *cross_entropy());
  }
}

TEST_F(ModelReference, Llama) {
  const LlamaConfig shape{.vocabulary = 17,
                          .context = 24,
                          .width = 32,
                          .layers = 2,
                          .heads = 4,
                          .num_kv_heads = 2,
                          .hidden = 40,
                          .rope_theta = 500,
                          .rope_scaling = RopeScaling::Llama3,
                          .rope_factor = 4,
                          .rope_original_max_seq_len = 16};
  const auto model = std::make_shared<Llama>(shape, data::Form{});
  compare_wide("llama", model, {3, 24}, {3, 24});
}

TEST_F(ModelReference, Resnets) {
  const data::Form small = of({3, 9, 9}, 10), large = of({3, 65, 65}, 10);
  compare_wide("resnet14", make_model("resnet", {"depth=14", "base_channels=4"}, small),
               {3, 3, 9, 9}, {3});
  compare_wide("resnet18", make_model("resnet", {"depth=18", "base_channels=4"}, small),
               {3, 3, 9, 9}, {3});
  compare_wide("resnet50", make_model("resnet", {"depth=50", "base_channels=2"}, large),
               {3, 3, 65, 65}, {3});
}

TEST_F(ModelReference, Vit) {
  const auto model = make_model(
      "vit", {"patch_size=4", "hidden_size=12", "num_layers=2", "num_heads=3"}, of({1, 8, 12}, 10));
  compare_wide("vit", model, {3, 1, 8, 12}, {3});
}

TEST_F(ModelReference, Lstm) {
  const auto model = make_model("lstm", {"vocab_size=11", "hidden_size=7"}, {});
  compare_wide("lstm", model, {3, 5}, {3, 5});
}

TEST_F(ModelReference, OneLayer) {
  data::Form numbers = of({1, 3, 4}, 0);
  numbers.target_sizes = {2};
  compare_wide("linear", make_model("linear", {}, numbers), {5, 1, 3, 4}, {5, 2});
  compare_wide("logistic", make_model("logistic", {}, of({1, 3, 4}, 2)), {5, 1, 3, 4}, {5});
}

TEST_F(ModelReference, Autoencoder) {
  data::Form itself = of({1, 3, 4}, 0);
  itself.target_sizes = itself.input_sizes;
  const auto made = make_model("autoencoder", {"hidden_sizes=[9, 4]", "latent_size=2"}, itself);
  auto& model = dynamic_cast<Autoencoder&>(*made);
  const at::Tensor x = read("autoencoder", "input", {5, 1, 3, 4}, at::kDouble);
  compare("autoencoder", model, x, x, *mse(), at::kDouble);
  const at::Tensor codes = model.encode(x, {});
  EXPECT_EQ(codes.sizes(), at::IntArrayRef({5, 2}));
  EXPECT_TRUE(model.decode(codes, {}).equal(model.forward(x, {})));
}

}  // namespace
}  // namespace trireme::model
