#include "trireme/data/source.h"

#include <cstddef>
#include <vector>

namespace trireme::data {

void Source::read_target(std::int64_t sample, void* target) const {
  thread_local std::vector<std::byte> input;
  input.resize(form().input_bytes());
  read(sample, {}, input.data(), target);
}

}  // namespace trireme::data
