// BalancedSource is a source with as many samples of every class: those of the smaller classes come
// several times an epoch, or those of the larger take turns.
//
// Meaning: sample i is of class i % classes (of those that occur), and which one of the class is a
//          function of (seed, epoch, i) alone. Over: every sample of a class comes once before any
//          comes again. Under: an epoch has as many of each class as the smallest has, others of
//          the larger ones in each epoch. What is random about a sample is drawn from i, so that
//          one that comes again is augmented anew.
// Threads: any thread.
// Failure: InvalidInput where samples have no class.

#pragma once

#include <memory>
#include <vector>

#include "trireme/data/sampling_config.h"
#include "trireme/data/source.h"

namespace trireme::data {

class BalancedSource final : public Source {
 public:
  // REQUIRES: balance is not None.
  BalancedSource(std::shared_ptr<const Source> source, Balance balance);

  std::int64_t count() const override { return per_class_ * std::ssize(members_); }
  const Form& form() const override { return source_->form(); }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;
  void read_target(std::int64_t sample, void* target) const override;

  // Of the other source.
  std::int64_t original(std::int64_t sample, const SampleKey& key) const;

 private:
  std::shared_ptr<const Source> source_;
  std::vector<std::vector<std::int64_t>> members_;  // of classes that occur
  std::int64_t per_class_ = 0;
};

}  // namespace trireme::data
