#include "trireme/data/transform/mixed_source.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/data/transform/image.h"
#include "trireme/data/transform/sample_random.h"

namespace trireme::data::transform {
namespace {

constexpr std::uint64_t kMixPurpose = 0x4D49585550;

// Marsaglia and Tsang (2000); for shapes below 1, scaled by the power of another uniform.
double draw_gamma(double shape, Random& random) {
  if (shape < 1) {
    const double power = std::pow(1 - random.uniform_double(), 1 / shape);
    return draw_gamma(shape + 1, random) * power;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = random.normal();
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    if (std::log(1 - random.uniform_double()) < x * x / 2 + d - d * v + d * std::log(v)) {
      return d * v;
    }
  }
}

class MixedSource final : public Source {
 public:
  MixedSource(std::shared_ptr<const Source> source, const TransformConfig& config)
      : source_(std::move(source)), config_(config), form_(source_->form()) {
    if (!form_.is_image() || form_.classes == 0 || !form_.target_sizes.empty()) {
      throw Error(ErrorCode::InvalidInput,
                  "data.mixup and cutmix are for images of one class each, and these are not");
    }
    size_ = {form_.input_sizes[0], form_.input_sizes[1], form_.input_sizes[2]};
    form_.target_sizes = {form_.classes};
    form_.target_type = at::kFloat;
  }

  std::int64_t count() const override { return source_->count(); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override {
    Random random = random_of(key, kMixPurpose);
    std::int64_t labels[2] = {0, 0};
    auto* const image = static_cast<float*>(input);
    source_->read(sample, key, input, &labels[0]);
    const bool has_both = config_.mixup > 0 && config_.cutmix > 0;
    const bool is_pasted = has_both ? random.below(2) == 1 : config_.cutmix > 0;
    const double share = draw_beta(is_pasted ? config_.cutmix : config_.mixup, random);
    const auto partner =
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(source_->count())));
    thread_local std::vector<float> other;
    other.resize(static_cast<std::size_t>(size_.count()));
    source_->read(partner, {.seed = key.seed, .epoch = key.epoch, .sample = partner}, other.data(),
                  &labels[1]);
    const float left =
        is_pasted ? paste(image, other.data(), share, random) : mix(image, other.data(), share);
    auto* const shares = static_cast<float*>(target);
    std::fill_n(shares, form_.classes, 0.0F);
    shares[labels[0]] += left;
    shares[labels[1]] += 1 - left;
  }

 private:
  // Return the remaining proportion of the first image.
  float mix(float* image, const float* other, double share) const {
    const auto left = static_cast<float>(share);
    for (std::int64_t i = 0; i < size_.count(); ++i) {
      image[i] = left * image[i] + (1 - left) * other[i];
    }
    return left;
  }

  float paste(float* image, const float* other, double share, Random& random) const {
    const double side = std::sqrt(1 - share);
    const auto height = static_cast<std::int64_t>(side * static_cast<double>(size_.height));
    const auto width = static_cast<std::int64_t>(side * static_cast<double>(size_.width));
    const auto row =
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(size_.height)));
    const auto column =
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(size_.width)));
    const std::int64_t top = std::max<std::int64_t>(row - height / 2, 0);
    const std::int64_t bottom = std::min(row - height / 2 + height, size_.height);
    const std::int64_t from = std::max<std::int64_t>(column - width / 2, 0);
    const std::int64_t to = std::min(column - width / 2 + width, size_.width);
    for (std::int64_t c = 0; c < size_.channels; ++c) {
      for (std::int64_t y = top; y < bottom; ++y) {
        const std::int64_t line = (c * size_.height + y) * size_.width;
        std::copy(other + line + from, other + line + to, image + line + from);
      }
    }
    const auto pasted = static_cast<float>((bottom - top) * (to - from));
    return 1 - pasted / static_cast<float>(size_.height * size_.width);
  }

  std::shared_ptr<const Source> source_;
  TransformConfig config_;
  Form form_;
  ImageSize size_;
};

}  // namespace

double draw_beta(double alpha, Random& random) {
  const double a = draw_gamma(alpha, random), b = draw_gamma(alpha, random);
  // With a small alpha both may underflow to 0.
  return a + b > 0 ? a / (a + b) : (random.below(2) == 0 ? 0.0 : 1.0);
}

std::shared_ptr<const Source> mixed(std::shared_ptr<const Source> source,
                                    const TransformConfig& config) {
  if (config.mixup == 0 && config.cutmix == 0) return source;
  return std::make_shared<MixedSource>(std::move(source), config);
}

}  // namespace trireme::data::transform
