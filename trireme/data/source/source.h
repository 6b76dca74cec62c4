// Source is a data set: numbered samples, each with an input and a target of the same form.
//
// Semantics:     reading sample i gives the same result on every rank and thread and in any order.
//                Random augmentation is drawn only from the sample's key, so that results are
//                bitwise identical for any number of threads and ranks, and after a restart.
// Thread safety: every function is const; any number of threads may call it at once.
// Errors:        opening a source throws InvalidInput, NotFound or Corrupt, with the name of the
//                file and the offset; a source is never partly open. read() may throw the same.
// Lifetime:      the caller owns the buffers; form() is valid as long as the source.

#pragma once

#include <cstdint>
#include <memory>

#include "trireme/data/form.h"
#include "trireme/data/skipped_names.h"
#include "trireme/data/transform/image.h"

namespace trireme::data {

// Seeds the random values of one sample in one epoch.
struct SampleKey {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  std::int64_t sample = 0;
};

class Source {
 public:
  virtual ~Source() = default;

  virtual std::int64_t count() const = 0;
  virtual const Form& form() const = 0;

  // Writes form().input_bytes() and form().target_bytes() bytes.
  // REQUIRES: 0 <= sample < count().
  virtual void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const = 0;

  // The same with the image placed: read(), then place(), unless a source has a faster way.
  // REQUIRES: form().is_image(), of float32.
  virtual void read_placed(std::int64_t sample, const SampleKey& key,
                           const transform::Placement& placement, void* input, void* target) const;

  // Reads only the target, which does not depend on the key. By default this reads the whole
  // sample.
  virtual void read_target(std::int64_t sample, void* target) const;

  // Of all loaders of this source.
  SkippedNames& skipped_names() const noexcept { return *skipped_names_; }

 private:
  std::shared_ptr<SkippedNames> skipped_names_ = std::make_shared<SkippedNames>();
};

}  // namespace trireme::data
