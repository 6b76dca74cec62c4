// ClassSampler generates samples of a class with a trained model: with the generator of a gan, or
// with the decoder of an autoencoder from random codes.
//
// Codes:         for each class, drawn from a normal distribution with the mean and covariance of
//                the codes of its training samples (of at most kFitted). If samples have no
//                classes, all belong to one. A class without samples uses the distribution of all
//                samples.
// Randomness:    a function of the seed and of the index of the generated sample.
// Errors:        InvalidInput if samples have no single class (mixup, cutmix); what reading the
//                data throws.
// Thread safety: one thread.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trireme/train/evaluate/trained_model.h"

namespace trireme::train {

class ClassSampler {
 public:
  static constexpr std::int64_t kFitted = 1000;

  virtual ~ClassSampler() = default;
  virtual std::int64_t classes() const = 0;
  // Empty if the classes have no names.
  virtual const std::vector<std::string>& class_names() const = 0;
  // Samples of these classes, int64 (N), with the sizes and the scale of the training data.
  // REQUIRES: 0 <= label < classes().
  virtual at::Tensor sample(const at::Tensor& labels, std::uint64_t seed) = 0;
};

// Null if the model cannot generate samples of a class.
std::unique_ptr<ClassSampler> class_sampler(const TrainedModel& trained, const Kinds& kinds);

// A normal distribution in several dimensions.
class Normal {
 public:
  // Fits the rows, (N, D). The variance is 0 if there is only one row.
  explicit Normal(const at::Tensor& rows);

  // (D), float32.
  at::Tensor draw(std::uint64_t seed, std::uint64_t stream) const;

 private:
  std::vector<double> mean_;
  std::vector<double> root_;  // lower triangle L of the covariance L L^T, row by row
};

}  // namespace trireme::train
