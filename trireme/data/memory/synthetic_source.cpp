#include "trireme/data/memory/synthetic_source.h"

#include <cmath>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/random.h"

namespace trireme::data::memory {
namespace {

// Random streams: sample i draws from stream i, the hidden parameters from one that no sample uses.
constexpr std::uint64_t kHiddenStream = ~std::uint64_t{0};
constexpr std::int64_t kHiddenMax = std::int64_t{1} << 28;

Random random_of(const SyntheticConfig& config, std::int64_t sample) {
  return Random(config.seed, static_cast<std::uint64_t>(sample));
}

Form form_of(const SyntheticConfig& config) {
  Form form{.input_sizes = config.sizes, .classes = config.classes};
  const bool is_default = config.sizes.empty();
  switch (config.task) {
    case SyntheticTask::Images:
      if (is_default) form.input_sizes = {1, 28, 28};
      break;
    case SyntheticTask::Classification:
      if (is_default) form.input_sizes = {16};
      break;
    case SyntheticTask::Regression:
      if (is_default) form.input_sizes = {16};
      form.target_type = at::kFloat;
      form.target_sizes = {1};
      form.classes = 0;
      break;
    case SyntheticTask::Tokens:
      if (is_default) form.input_sizes = {64};
      form.input_type = at::kLong;
      form.target_sizes = form.input_sizes;
      break;
  }
  return form;
}

float dot(const float* a, const float* b, std::int64_t count) {
  float sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

std::string complaint_of(const SyntheticConfig& c) {
  const std::size_t dims = c.task == SyntheticTask::Images ? 3 : 1;
  if (!c.sizes.empty() && c.sizes.size() != dims) {
    return "sizes has " + std::to_string(c.sizes.size()) + " numbers, and this task wants " +
           std::to_string(dims);
  }
  return {};
}

}  // namespace

SyntheticSource::SyntheticSource(const SyntheticConfig& config, std::int64_t first,
                                 std::int64_t count)
    : config_(config), first_(first), count_(count), form_(form_of(config)) {
  if (config.task == SyntheticTask::Tokens) return;
  const std::int64_t rows = config.task == SyntheticTask::Regression ? 1 : config.classes;
  const std::int64_t columns = form_.input_count();
  if (columns > kHiddenMax / rows) {
    throw Error(ErrorCode::InvalidInput, "data.sizes: " + std::to_string(columns) + " numbers of " +
                                             std::to_string(rows) + " classes are too many");
  }
  hidden_.resize(static_cast<std::size_t>(rows * columns));
  Random random(config.seed, kHiddenStream);
  const double scale =
      config.task == SyntheticTask::Images ? 1.0 : 1.0 / std::sqrt(static_cast<double>(columns));
  for (float& value : hidden_) value = static_cast<float>(random.normal() * scale);
}

void SyntheticSource::read(std::int64_t sample, const SampleKey&, void* input, void* target) const {
  TRIREME_CHECK(sample >= 0 && sample < count_, "sample ", sample, " of ", count_);
  switch (config_.task) {
    case SyntheticTask::Images:
      return read_image(first_ + sample, static_cast<float*>(input),
                        static_cast<std::int64_t*>(target));
    case SyntheticTask::Classification:
    case SyntheticTask::Regression:
      return read_features(first_ + sample, static_cast<float*>(input), target);
    case SyntheticTask::Tokens:
      return read_tokens(first_ + sample, static_cast<std::int64_t*>(input),
                         static_cast<std::int64_t*>(target));
  }
}

// Uses uniform noise of the same deviation, which costs a tenth of normal noise.
void SyntheticSource::read_image(std::int64_t sample, float* input, std::int64_t* label) const {
  Random random = random_of(config_, sample);
  const auto drawn = random.below(static_cast<std::uint64_t>(config_.classes));
  *label = static_cast<std::int64_t>(drawn);
  const std::int64_t count = form_.input_count();
  const float* const pattern = hidden_.data() + *label * count;
  const auto width = static_cast<float>(config_.noise * std::sqrt(12.0));
  for (std::int64_t i = 0; i < count; ++i) {
    input[i] = pattern[i] + width * (random.uniform_float() - 0.5F);
  }
}

void SyntheticSource::read_features(std::int64_t sample, float* input, void* target) const {
  Random random = random_of(config_, sample);
  const std::int64_t count = form_.input_count();
  for (std::int64_t i = 0; i < count; ++i) input[i] = static_cast<float>(random.normal());
  if (config_.task == SyntheticTask::Regression) {
    const auto noise = static_cast<float>(config_.noise * random.normal());
    *static_cast<float*>(target) = dot(hidden_.data(), input, count) + noise;
    return;
  }
  std::int64_t best = 0;
  float best_score = dot(hidden_.data(), input, count);
  for (std::int64_t i = 1; i < config_.classes; ++i) {
    const float score = dot(hidden_.data() + i * count, input, count);
    if (score > best_score) {
      best_score = score;
      best = i;
    }
  }
  *static_cast<std::int64_t*>(target) = best;
}

void SyntheticSource::read_tokens(std::int64_t sample, std::int64_t* input,
                                  std::int64_t* target) const {
  Random random = random_of(config_, sample);
  const std::int64_t classes = config_.classes;
  auto token = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(classes)));
  const auto step = static_cast<std::int64_t>(random.below(4)) + 1;
  for (std::int64_t i = 0; i < form_.input_count(); ++i) {
    input[i] = token;
    token = (token + step) % classes;
    target[i] = token;
  }
}

Sets open_synthetic(const SyntheticConfig& config) {
  Sets sets{.train = std::make_shared<SyntheticSource>(config, 0, config.count), .test = nullptr};
  if (config.test_count > 0) {
    sets.test = std::make_shared<SyntheticSource>(config, config.count, config.test_count);
  }
  return sets;
}

void SyntheticConfig::describe(config::Fields<SyntheticConfig>& f) {
  f.add("task", &SyntheticConfig::task)
      .names({{"images", SyntheticTask::Images},
              {"classification", SyntheticTask::Classification},
              {"regression", SyntheticTask::Regression},
              {"tokens", SyntheticTask::Tokens}})
      .help("the kind of data to generate");
  f.add("count", &SyntheticConfig::count)
      .range(1, std::int64_t{1} << 48)
      .unit("samples")
      .help("to train on");
  f.add("test_count", &SyntheticConfig::test_count)
      .range(0, std::int64_t{1} << 48)
      .unit("samples")
      .help("to evaluate on; 0: none");
  f.add("sizes", &SyntheticConfig::sizes)
      .range(1, 1 << 20)
      .help(
          "sizes of an input: images [channels, height, width], else [features] or [tokens]; "
          "empty: "
          "[1, 28, 28], [16] or [64]");
  f.add("classes", &SyntheticConfig::classes)
      .range(2, 1 << 20)
      .help("number of classes, or vocabulary size for text; ignored for regression");
  f.add("noise", &SyntheticConfig::noise)
      .range(0, 1000)
      .help("deviation of what is random about an image or a number to predict");
  f.add("seed", &SyntheticConfig::seed).help("seed of the generated data");
  f.require(complaint_of);
}

}  // namespace trireme::data::memory
