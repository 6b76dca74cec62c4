// ClassSampler makes samples of a class with a trained model: a gan's generator, or what an
// autoencoder tells of codes that are drawn as those of the class lie.
//
// Codes:   of each class a normal distribution with the mean and covariance of its training
// samples'
//          codes, of kFitted at most. Where samples have no class, all are of one; a class without
//          samples is drawn as all of them lie.
// Random:  a function of the seed and of a sample's place among those that are asked for.
// Threads: one.
// Failure: InvalidInput where the data do not say of what class a sample is (mixed ones); what
//          reading them throws.

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
  // What they are called; empty where nobody said.
  virtual const std::vector<std::string>& class_names() const = 0;
  // Samples of these classes, int64 (N), of the sizes and on the scale that the model was trained
  // with. REQUIRES: 0 <= label < classes().
  virtual at::Tensor sample(const at::Tensor& labels, std::uint64_t seed) = 0;
};

// Null where the model makes none.
std::unique_ptr<ClassSampler> class_sampler(const TrainedModel& trained, const Kinds& kinds);

// A normal distribution in several dimensions.
class Normal {
 public:
  // That of these rows, (N, D): of one, a distribution of no width.
  explicit Normal(const at::Tensor& rows);

  // (D), float32.
  at::Tensor draw(std::uint64_t seed, std::uint64_t stream) const;

 private:
  std::vector<double> mean_;
  std::vector<double> root_;  // lower triangle L of the covariance L L^T, row by row
};

}  // namespace trireme::train
