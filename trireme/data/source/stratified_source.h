// StratifiedSource orders an epoch so that every part of it contains each class in its overall
// proportion. A loader reads it in this order.
//
// Semantics:     the j-th of the n samples of a class is at (j + 1/2) / n of the epoch; classes at
//                the same position are ordered by number. Of any b consecutive samples, a class
//                with proportion p has p b, with an error of less than two. Which sample is the
//                j-th is a keyed permutation of the class in each epoch, a function of (seed,
//                epoch, j). Every sample is used once.
// Memory:        8 bytes per sample, and its number.
// Thread safety: any thread.
// Errors:        InvalidInput if samples have no class.

#pragma once

#include <memory>
#include <vector>

#include "trireme/data/source/source.h"

namespace trireme::data {

class StratifiedSource final : public Source {
 public:
  // If not shuffled, the samples of a class keep their order.
  StratifiedSource(std::shared_ptr<const Source> source, bool is_shuffled);

  std::int64_t count() const override { return source_->count(); }
  const Form& form() const override { return source_->form(); }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;
  void read_target(std::int64_t sample, void* target) const override;

  // The sample number in the original source.
  std::int64_t original(std::int64_t sample, const SampleKey& key) const;

 private:
  struct Place {
    std::uint32_t label = 0;
    std::uint32_t rank = 0;  // within its class
  };

  std::shared_ptr<const Source> source_;
  bool is_shuffled_;
  std::vector<std::vector<std::int64_t>> members_;
  std::vector<Place> places_;
};

}  // namespace trireme::data
