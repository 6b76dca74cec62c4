// SyntheticSource generates samples: each is a function of the seed and its number and needs no
// memory. The samples can be learned, so that a job on them shows whether training works.
//
//   images          each class has its own pattern; an image is the pattern of its class plus noise
//   classification  features are normal; a hidden linear map of them determines the class
//   regression      features are normal; the target is a hidden linear function of them plus noise
//   tokens          each sample counts upwards by its own step from 1 to 4 and wraps around
//
// Thread safety: any thread.

#pragma once

#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/data/registry.h"
#include "trireme/data/source/source.h"

namespace trireme::data::memory {

enum class SyntheticTask { Images, Classification, Regression, Tokens };

// The `[data]` section of kind synthetic.
struct SyntheticConfig {
  SyntheticTask task = SyntheticTask::Images;
  std::int64_t count = 10000;
  std::int64_t test_count = 1000;
  std::vector<std::int64_t> sizes = {};  // NOLINT(readability-redundant-member-init)
  std::int64_t classes = 10;
  double noise = 0.5;
  std::uint64_t seed = 0;

  static void describe(config::Fields<SyntheticConfig>& f);
};

class SyntheticSource final : public Source {
 public:
  // Samples first .. first + count - 1 of the infinite set that `config` describes.
  SyntheticSource(const SyntheticConfig& config, std::int64_t first, std::int64_t count);

  std::int64_t count() const override { return count_; }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;

 private:
  void read_image(std::int64_t sample, float* input, std::int64_t* label) const;
  void read_features(std::int64_t sample, float* input, void* target) const;
  void read_tokens(std::int64_t sample, std::int64_t* input, std::int64_t* target) const;

  SyntheticConfig config_;
  std::int64_t first_;
  std::int64_t count_;
  Form form_;
  std::vector<float> hidden_;  // (classes, input_count): patterns or weights
};

Sets open_synthetic(const SyntheticConfig& config);

}  // namespace trireme::data::memory
