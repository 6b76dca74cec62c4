#include "trireme/data/idx/idx_source.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::data::idx {
namespace {

[[noreturn]] void fail(const IdxFile& file, std::size_t offset, const std::string& why) {
  throw Error(ErrorCode::Corrupt, file.name() + ": at byte " + std::to_string(offset) + ": " + why);
}

void check_sizes(const IdxFile& images, const IdxFile& labels) {
  const std::size_t dims = images.sizes().size();
  if (dims != 3 && dims != 4) {
    fail(images, 3, "images have 3 or 4 dimensions, these " + std::to_string(dims));
  }
  if (labels.sizes().size() != 1) {
    fail(labels, 3, "labels have 1 dimension, these " + std::to_string(labels.sizes().size()));
  }
  if (images.sizes()[0] != labels.sizes()[0]) {
    fail(labels, 4,
         std::to_string(labels.sizes()[0]) + " labels for the " +
             std::to_string(images.sizes()[0]) + " images of " + images.name());
  }
  for (std::size_t i = 1; i < dims; ++i) {
    if (images.sizes()[i] == 0) fail(images, 4 + 4 * i, "the images have no pixels");
  }
}

std::int64_t check_labels(const IdxFile& labels, std::int64_t classes) {
  const std::uint8_t* const begin = labels.data();
  const std::uint8_t* const end = begin + labels.sizes()[0];
  if (classes == 0) return begin == end ? 0 : 1 + std::int64_t{*std::max_element(begin, end)};
  const auto* wrong =
      std::find_if(begin, end, [&](std::uint8_t label) { return label >= classes; });
  if (wrong != end) {
    fail(labels, labels.offset() + static_cast<std::size_t>(wrong - begin),
         "label " + std::to_string(*wrong) + " among " + std::to_string(classes) + " classes");
  }
  return classes;
}

}  // namespace

IdxSource::IdxSource(IdxFile images, IdxFile labels, std::int64_t classes,
                     std::vector<std::string> class_names)
    : images_(std::move(images)), labels_(std::move(labels)) {
  check_sizes(images_, labels_);
  const auto& sizes = images_.sizes();
  form_.input_sizes = {sizes.size() == 4 ? sizes[3] : 1, sizes[1], sizes[2]};
  form_.classes = check_labels(labels_, classes);
  form_.class_names = std::move(class_names);
}

void IdxSource::read(std::int64_t sample, const SampleKey&, void* input, void* target) const {
  TRIREME_CHECK(sample >= 0 && sample < count(), "sample ", sample, " of ", count());
  const std::int64_t channels = form_.input_sizes[0];
  const std::int64_t pixels = form_.input_sizes[1] * form_.input_sizes[2];
  const std::uint8_t* const from = images_.data() + sample * pixels * channels;
  auto* const to = static_cast<float*>(input);
  if (channels == 1) {
    for (std::int64_t i = 0; i < pixels; ++i) to[i] = static_cast<float>(from[i]) / 255.0F;
  } else {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t i = 0; i < pixels; ++i) {
        to[c * pixels + i] = static_cast<float>(from[i * channels + c]) / 255.0F;
      }
    }
  }
  read_target(sample, target);
}

void IdxSource::read_target(std::int64_t sample, void* target) const {
  TRIREME_CHECK(sample >= 0 && sample < count(), "sample ", sample, " of ", count());
  *static_cast<std::int64_t*>(target) = labels_.data()[sample];
}

}  // namespace trireme::data::idx
