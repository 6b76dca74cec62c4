// BalancedSource has the same number of samples of every class: samples of smaller classes are
// repeated within an epoch (oversampling), or only a part of the larger classes is used per epoch
// (undersampling).
//
// Semantics:     sample i is of class i % classes (counting only classes that occur); which sample
//                of the class it is depends only on (seed, epoch, i). Over: every sample of a class
//                is used once before any is repeated. Under: an epoch has the size of the smallest
//                class for each class, with other samples of the larger classes in each epoch.
//                Random values for a sample are drawn from i, so that a repeated sample is
//                augmented differently.
// Thread safety: any thread.
// Errors:        InvalidInput if samples have no class.

#pragma once

#include <memory>
#include <vector>

#include "trireme/data/order/sampling.h"
#include "trireme/data/source/source.h"

namespace trireme::data {

class BalancedSource final : public Source {
 public:
  // REQUIRES: balance is not None.
  BalancedSource(std::shared_ptr<const Source> source, ClassBalance balance);

  std::int64_t count() const override { return per_class_ * std::ssize(members_); }
  const Form& form() const override { return source_->form(); }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;
  void read_target(std::int64_t sample, void* target) const override;

  // The sample number in the original source.
  std::int64_t original(std::int64_t sample, const SampleKey& key) const;

 private:
  std::shared_ptr<const Source> source_;
  std::vector<std::vector<std::int64_t>> members_;  // only of classes that occur
  std::int64_t per_class_ = 0;
};

}  // namespace trireme::data
