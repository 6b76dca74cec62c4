#include "trireme/data/source/source.h"

#include <cstddef>
#include <vector>

namespace trireme::data {

void Source::read_placed(std::int64_t sample, const SampleKey& key,
                         const transform::ImagePlacement& placement, void* input,
                         void* target) const {
  read(sample, key, input, target);
  const std::vector<std::int64_t>& sizes = form().input_sizes;
  transform::place(static_cast<float*>(input), {sizes.at(0), sizes.at(1), sizes.at(2)}, placement);
}

void Source::read_target(std::int64_t sample, void* target) const {
  thread_local std::vector<std::byte> input;
  input.resize(form().input_bytes());
  read(sample, {}, input.data(), target);
}

}  // namespace trireme::data
