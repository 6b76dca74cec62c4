// ClassSampler generates samples of a class with a trained model: with the generator of a gan, or
// with the decoder of an autoencoder from random codes.
//
// Codes:         for each class, drawn from a normal distribution with the mean and covariance of
//                the codes of its training samples (of at most 1000). If samples have no
//                classes, all belong to one. A class without samples uses the distribution of all
//                samples.
// Randomness:    a function of the seed and of the index of the generated sample.
// Errors:        InvalidInput if samples have no single class (mixup, cutmix); what reading the
//                data throws.
// Thread safety: one thread.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trireme/train/evaluate/trained_model.h"

namespace trireme::train {

struct ClassSampler {
  std::int64_t classes = 0;
  std::vector<std::string> class_names{};  // empty if the classes have no names
  // Samples of these classes, int64 (N), with the sizes and the scale of the training data.
  // REQUIRES: 0 <= label < classes.
  std::function<at::Tensor(const at::Tensor& labels, std::uint64_t seed)> sample{};
};

// Nullopt if the model cannot generate samples of a class.
std::optional<ClassSampler> class_sampler(const TrainedModel& trained, const Kinds& kinds);

// A normal distribution in several dimensions.
class Normal {
 public:
  // Fits the rows, (N, D). The variance is 0 if there is only one row.
  explicit Normal(const at::Tensor& rows);

  // (D), float32.
  at::Tensor draw(std::uint64_t seed, std::uint64_t stream) const;

 private:
  at::Tensor mean_;  // (D), float64
  at::Tensor root_;  // (D, D): lower triangle L of the covariance L L^T
};

}  // namespace trireme::train
