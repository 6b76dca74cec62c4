#include "bench/gpu/gpt_size.h"

#include <cmath>

#include "trireme/base/error.h"

namespace trireme::bench::gpu {
namespace {

constexpr double kWeightDeviation = 0.02;  // of initial weights

const std::vector<GptSize>& all() {
  static const std::vector<GptSize> sizes{
      {.name = "124m", .layers = 12, .heads = 12, .width = 768, .batch = 64},
      {.name = "350m", .layers = 24, .heads = 16, .width = 1024, .batch = 32},
      {.name = "774m", .layers = 36, .heads = 20, .width = 1280, .batch = 16},
      {.name = "1.5b", .layers = 48, .heads = 25, .width = 1600, .batch = 8}};
  return sizes;
}

}  // namespace

double GptSize::flops_per_token(std::int64_t context) const {
  const auto l = static_cast<double>(layers), d = static_cast<double>(width);
  const double weights = 12 * l * d * d + static_cast<double>(kVocabulary) * d;
  return 6 * weights + 6 * l * d * static_cast<double>(context);
}

double GptSize::first_loss() const {
  const double variance = static_cast<double>(width) * kWeightDeviation * kWeightDeviation;
  return std::log(static_cast<double>(kVocabulary)) + variance / 2;
}

std::vector<std::string> gpt_names() {
  std::vector<std::string> names;
  for (const GptSize& size : all()) names.push_back(size.name);
  return names;
}

const GptSize& gpt_named(const std::string& name) {
  for (const GptSize& size : all()) {
    if (size.name == name) return size;
  }
  throw Error(ErrorCode::InvalidInput, "no size of GPT-2 is called " + name);
}

}  // namespace trireme::bench::gpu
