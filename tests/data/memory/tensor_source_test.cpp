// Goal:   tensors in memory and torch::data sets work like any other source.
// Method: rows are compared with the tensors; a torch::data set defined here is read by a loader.

#include "trireme/data/memory/tensor_source.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <torch/data/datasets/base.h>

#include "trireme/base/error.h"
#include "trireme/data/loader.h"
#include "trireme/data/memory/dataset_source.h"

namespace trireme::data::memory {
namespace {

TEST(TensorSource, ReadsRowsOfAnyTypeAndStride) {
  const at::Tensor x = at::arange(12, at::kDouble).reshape({2, 3, 2}).permute({1, 0, 2});
  const at::Tensor y = at::arange(3, at::kLong);
  const TensorSource source(x, y, {.classes = 3});
  EXPECT_EQ(source.count(), 3);
  EXPECT_EQ(source.form().input_sizes, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(source.form().input_type, at::kDouble);
  EXPECT_TRUE(source.form().target_sizes.empty());
  double input[4];
  std::int64_t label = -1;
  source.read(1, {}, input, &label);
  EXPECT_EQ(input[0], 2);
  EXPECT_EQ(input[3], 9);
  EXPECT_EQ(label, 1);
  EXPECT_THROW(source.read(3, {}, input, &label), Error);
}

TEST(TensorSource, IsLoadedInBatches) {
  const auto source = std::make_shared<TensorSource>(at::arange(10, at::kFloat).reshape({10, 1}),
                                                     at::arange(10, at::kFloat).reshape({10, 1}));
  Loader loader({.source = source, .batch = 4, .is_shuffled = false});
  const Batch& batch = loader.next().batches[0];
  EXPECT_TRUE(batch.input.equal(at::arange(4, at::kFloat).reshape({4, 1})));
  EXPECT_TRUE(batch.target.equal(batch.input));
}

TEST(TensorSource, RefusesWhatDoesNotFit) {
  const at::Tensor x = at::zeros({3, 2});
  EXPECT_THROW(TensorSource(x, at::zeros({2})), Error);
  EXPECT_THROW(TensorSource(x, at::Tensor()), Error);
  EXPECT_THROW(TensorSource(x, at::zeros({3}), {.classes = 2}), Error);
  EXPECT_THROW(TensorSource(x, at::full({3}, 2, at::kLong), {.classes = 2}), Error);
  EXPECT_THROW(TensorSource(x, at::full({3}, -1, at::kLong), {.classes = 2}), Error);
}

// If `is_ragged`, the last sample has another size.
class Squares : public torch::data::datasets::Dataset<Squares> {
 public:
  Squares(std::size_t count, bool is_ragged) : count_(count), is_ragged_(is_ragged) {}
  torch::data::Example<> get(std::size_t index) override {
    const auto number = static_cast<std::int64_t>(index);
    const std::int64_t width = is_ragged_ && index + 1 == count_ ? 3 : 2;
    return {at::full({width}, static_cast<double>(number), at::kFloat),
            at::full({}, number * number, at::kLong)};
  }
  std::optional<std::size_t> size() const override { return count_; }

 private:
  std::size_t count_;
  bool is_ragged_;
};

TEST(DatasetSource, AdaptsTorchDataSets) {
  const auto source = std::make_shared<DatasetSource<Squares>>(
      Squares(5, false), DatasetSource<Squares>::Options{.classes = 17});
  EXPECT_EQ(source->form().classes, 17);
  EXPECT_EQ(source->form().input_sizes, (std::vector<std::int64_t>{2}));
  Loader loader({.source = source, .batch = 5, .is_shuffled = false, .threads = 2});
  const Batch& batch = loader.next().batches[0];
  EXPECT_TRUE(batch.target.equal(at::tensor({0, 1, 4, 9, 16}, at::kLong)));
  EXPECT_EQ(batch.input.sizes(), (at::IntArrayRef{5, 2}));
}

TEST(DatasetSource, RefusesSamplesOfAnotherForm) {
  const DatasetSource<Squares> source(Squares(3, true));
  float input[2];
  std::int64_t target = 0;
  EXPECT_NO_THROW(source.read(1, {}, input, &target));
  EXPECT_THROW(source.read(2, {}, input, &target), Error);
  EXPECT_EQ(DatasetSource<Squares>(Squares(0, false)).count(), 0);
}

}  // namespace
}  // namespace trireme::data::memory
