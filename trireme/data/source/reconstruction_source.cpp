#include "trireme/data/source/reconstruction_source.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::data {

ReconstructionSource::ReconstructionSource(std::shared_ptr<const Source> source)
    : source_(std::move(source)), form_(source_->form()) {
  if (!c10::isFloatingType(form_.input_type)) {
    throw Error(ErrorCode::InvalidInput,
                "data.target = \"input\" is for samples of numbers, and these are tokens");
  }
  form_.target_sizes = form_.input_sizes;
  form_.target_type = form_.input_type;
  form_.classes = 0;
  form_.class_names.clear();
  form_.target_standards.clear();
  form_.target_spreads.clear();
}

void ReconstructionSource::read(std::int64_t sample, const SampleKey& key, void* input,
                                void* target) const {
  std::vector<std::byte> label(source_->form().target_bytes());
  source_->read(sample, key, input, label.data());
  std::memcpy(target, input, form_.input_bytes());
}

}  // namespace trireme::data
