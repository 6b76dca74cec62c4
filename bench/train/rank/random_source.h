// RandomSource provides random samples in memory: inputs are normally distributed or, for tokens,
// drawn from the whole vocabulary; targets are drawn from all classes. A model can only memorize
// them, which a few steps on the same batch do.
//
// Thread safety: any thread.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/data/source/source.h"
#include "trireme/train/recipe/recipe.h"

namespace trireme::bench {

class RandomSource final : public data::Source {
 public:
  // REQUIRES: inputs are float32 or int64, targets int64.
  RandomSource(data::Form form, std::int64_t count, std::uint64_t seed);

  std::int64_t count() const override { return count_; }
  const data::Form& form() const override { return form_; }
  void read(std::int64_t sample, const data::SampleKey& key, void* input,
            void* target) const override;

 private:
  data::Form form_;
  std::int64_t count_;
  std::vector<unsigned char> inputs_;
  std::vector<std::int64_t> targets_;
};

// The kinds of Trireme, and "random": `count` such samples.
trireme::train::Kinds kinds_with_random(const data::Form& form, std::int64_t count);

}  // namespace trireme::bench
