#include "trireme/data/transform/transformed_source.h"

#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/philox.h"
#include "trireme/data/transform/augment.h"
#include "trireme/data/transform/image.h"
#include "trireme/data/transform/sample_random.h"

namespace trireme::data::transform {
namespace {

// Makes these random draws independent of all others from the same seed.
constexpr std::uint32_t kPurpose = 0x41554731;
constexpr std::uint64_t kAugmentPurpose = 0x4155474D454E54;

ImageSize size_of(const Form& form) {
  if (!form.is_image()) {
    throw Error(ErrorCode::InvalidInput,
                "data.resize, pad_crop, flip, mean and what else changes pictures are for images, "
                "and this data has none");
  }
  return {form.input_sizes[0], form.input_sizes[1], form.input_sizes[2]};
}

// A number in 0 .. bound-1 from the high bits; the bias of bound / 2^32 is negligible for pixels.
std::int64_t below(std::uint32_t bits, std::int64_t bound) {
  return static_cast<std::int64_t>((std::uint64_t{bits} * static_cast<std::uint64_t>(bound)) >> 32);
}

class TransformedSource final : public Source {
 public:
  TransformedSource(std::shared_ptr<const Source> source, const TransformConfig& config, Use use)
      : source_(std::move(source)),
        config_(config),
        use_(use),
        form_(source_->form()),
        from_(size_of(form_)),
        to_(from_) {
    if (!config.resize.empty()) {
      to_ = {from_.channels, config.resize.at(0), config.resize.at(1)};
      form_.input_sizes = {to_.channels, to_.height, to_.width};
    }
    if (!config.mean.empty() && std::ssize(config.mean) != to_.channels) {
      throw Error(ErrorCode::InvalidInput, "data.mean has " + std::to_string(config.mean.size()) +
                                               " numbers and the images have " +
                                               std::to_string(to_.channels) + " channels");
    }
  }

  std::int64_t count() const override { return source_->count(); }
  const Form& form() const override { return form_; }
  void read_target(std::int64_t sample, void* target) const override {
    source_->read_target(sample, target);
  }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override {
    auto* const image = static_cast<float*>(input);
    const ImagePlacement placement = use_ == Use::Training ? placement_of(key) : ImagePlacement{};
    if (config_.resize.empty()) {
      source_->read_placed(sample, key, placement, input, target);
    } else {
      // One buffer per reading thread, so that reading a sample does not allocate.
      thread_local std::vector<float> original;
      original.resize(static_cast<std::size_t>(from_.count()));
      source_->read(sample, key, original.data(), target);
      resize(original.data(), from_, image, to_);
      place(image, to_, placement);
    }
    if (use_ == Use::Training && config_.is_augmented()) {
      Random random = random_of(key, kAugmentPurpose);
      transform::augment(image, to_, config_, random);
    }
    if (config_.is_standardized) standardize(image, to_);
    if (!config_.mean.empty()) normalize(image, to_, config_.mean.data(), config_.deviation.data());
  }

 private:
  // Determined by pad_crop and flip.
  ImagePlacement placement_of(const SampleKey& key) const {
    if (config_.pad_crop == 0 && !config_.is_flipped) return {};
    const auto sample = static_cast<std::uint64_t>(key.sample);
    const PhiloxBlock bits =
        philox(philox_key(key.seed),
               {static_cast<std::uint32_t>(sample), static_cast<std::uint32_t>(sample >> 32),
                static_cast<std::uint32_t>(key.epoch), kPurpose});
    const std::int64_t pad = config_.pad_crop;
    return {.down = below(bits[0], 2 * pad + 1) - pad,
            .right = below(bits[1], 2 * pad + 1) - pad,
            .is_flipped = config_.is_flipped && (bits[2] & 1) != 0};
  }

  std::shared_ptr<const Source> source_;
  TransformConfig config_;
  Use use_;
  Form form_;
  ImageSize from_;
  ImageSize to_;
};

}  // namespace

std::shared_ptr<const Source> transformed(std::shared_ptr<const Source> source,
                                          const TransformConfig& config, Use use) {
  if (source == nullptr || config.is_nothing()) return source;
  return std::make_shared<TransformedSource>(std::move(source), config, use);
}

}  // namespace trireme::data::transform
