// Goal:   from the same weights and batch, our models give PyTorch's logits, loss and gradients.
// Method: tests/model/reference.py writes what PyTorch computes, attention and layers spelled out;
//         every tensor must agree within 1e-5 of its largest value.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <chrono>

#include "tests/folders.h"
#include "trireme/base/file.h"
#include "trireme/base/temporary_folder.h"
#include "trireme/model/cnn.h"
#include "trireme/model/gpt.h"
#include "trireme/model/loss.h"
#include "trireme/model/mlp.h"
#include "trireme/testing/command_process.h"

namespace trireme::model {
namespace {

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
    EXPECT_LE((mine - theirs).abs().max().item<double>(), 1e-5 * largest) << name;
  }

  // The model's name is its folder's.
  static void compare(const std::string& name, Model& model, const at::Tensor& input,
                      const at::Tensor& target, const Loss& loss) {
    {
      const torch::NoGradGuard no_grad;
      for (const auto& item : model.named_parameters()) {
        item.value().copy_(read(name, item.key(), item.value().sizes().vec()));
      }
    }
    const at::Tensor logits = model.forward(input, {.is_training = true});
    const at::Tensor mean = loss.sum(logits, target) / loss.terms(target);
    mean.backward();
    expect_near(logits.detach(), read(name, "logits", logits.sizes().vec()), "logits");
    expect_near(mean.detach(), read(name, "loss", {}), "loss");
    for (const auto& item : model.named_parameters()) {
      const at::Tensor& gradient = item.value().grad();
      expect_near(gradient, read(name, item.key() + ".grad", gradient.sizes().vec()), item.key());
    }
  }

  static data::Form images(std::int64_t side) {
    data::Form form;
    form.input_sizes = {1, side, side};
    form.classes = 10;
    return form;
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

}  // namespace
}  // namespace trireme::model
