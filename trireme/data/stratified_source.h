// StratifiedSource puts an epoch in an order in which every stretch of it has its share of every
// class; a loader takes it as it comes.
//
// Meaning: the j-th of the n samples of a class stands at (j + 1/2) / n of the epoch, and classes
//          that meet at one place go by number: of any b samples in a row, a class with the share p
//          has p b, give or take less than two. Which sample is the j-th is a keyed permutation of
//          the class in each epoch, a function of (seed, epoch, j). Every sample comes once.
// Memory:  8 bytes a sample, and its number.
// Threads: any thread.
// Failure: InvalidInput where samples have no class.

#pragma once

#include <memory>
#include <vector>

#include "trireme/data/source.h"

namespace trireme::data {

class StratifiedSource final : public Source {
 public:
  // Not shuffled, the samples of a class keep their order.
  StratifiedSource(std::shared_ptr<const Source> source, bool is_shuffled);

  std::int64_t count() const override { return source_->count(); }
  const Form& form() const override { return source_->form(); }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;
  void read_target(std::int64_t sample, void* target) const override;

  // Of the other source.
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
