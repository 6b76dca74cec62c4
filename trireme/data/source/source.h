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

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "trireme/data/form.h"
#include "trireme/data/transform/image.h"

namespace trireme::data {

// Remembers which bad samples of a source the user was told of, so that each is named once, and at
// most kMax of them, whatever the number of epochs and loaders. Any thread may call it.
class SkippedNames {
 public:
  static constexpr std::size_t kMax = 10;

  // How many samples are named with this one; 0 where it is not to be named: it was before, or
  // kMax others were.
  std::size_t add(const std::string& complaint) {
    const std::lock_guard lock(mutex_);
    if (named_.size() == kMax || !named_.insert(complaint).second) return 0;
    return named_.size();
  }

 private:
  std::mutex mutex_;
  std::set<std::string> named_;
};

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
                           const transform::ImagePlacement& placement, void* input,
                           void* target) const;

  // Reads only the target, which does not depend on the key. By default this reads the whole
  // sample.
  virtual void read_target(std::int64_t sample, void* target) const;

  // Of all loaders of this source.
  SkippedNames& skipped_names() const noexcept { return *skipped_names_; }

 private:
  std::shared_ptr<SkippedNames> skipped_names_ = std::make_shared<SkippedNames>();
};

}  // namespace trireme::data
