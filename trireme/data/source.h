// Source is a data set: numbered samples, each an input and a target of the same form.
//
// Meaning:  sample i is the same whenever, by whomever and in whatever order it is read. What is
//           random about it (augmentation) is drawn from its key alone, so that neither the number
//           of threads nor of ranks nor a restart changes a bit of it.
// Threads:  every function is const and may be called from any number of threads at once.
// Failure:  opening a source throws InvalidInput, NotFound or Corrupt, and names the file and the
//           offset; nothing is half opened. read() may throw the same.
// Lifetime: buffers are the caller's; form() lives as long as the source.

#pragma once

#include <cstdint>

#include "trireme/data/form.h"
#include "trireme/data/transform/image.h"

namespace trireme::data {

// What the randomness of one sample in one epoch is drawn from.
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

  // The same with the image placed: place() after read(), unless a source has a shorter way.
  // REQUIRES: form().is_image(), of float32.
  virtual void read_placed(std::int64_t sample, const SampleKey& key,
                           const transform::Placement& placement, void* input, void* target) const;

  // The target alone, which no key changes. Where that is as dear as the whole, this is it.
  virtual void read_target(std::int64_t sample, void* target) const;
};

}  // namespace trireme::data
