#include "trireme/data/memory/tensor_source.h"

#include <cstring>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::data::memory {
namespace {

void check(const at::Tensor& x, const at::Tensor& y, std::int64_t classes) {
  if (!x.defined() || !y.defined() || x.dim() < 1 || y.dim() < 1 || x.size(0) != y.size(0)) {
    throw Error(ErrorCode::InvalidInput, "x and y have a row a sample each, and so equally many");
  }
  if (classes == 0 || y.numel() == 0) return;
  if (y.scalar_type() != at::kLong) {
    throw Error(ErrorCode::InvalidInput, "labels are int64, as torch's losses want them");
  }
  const auto least = y.min().item<std::int64_t>();
  const auto most = y.max().item<std::int64_t>();
  if (least < 0 || most >= classes) {
    throw Error(ErrorCode::InvalidInput, "labels from " + std::to_string(least) + " to " +
                                             std::to_string(most) + " among " +
                                             std::to_string(classes) + " classes");
  }
}

void copy_row(const at::Tensor& tensor, std::int64_t row, std::size_t bytes, void* out) {
  const auto* const data = static_cast<const std::byte*>(tensor.const_data_ptr());
  if (bytes > 0) std::memcpy(out, data + static_cast<std::size_t>(row) * bytes, bytes);
}

}  // namespace

TensorSource::TensorSource(const at::Tensor& x, const at::Tensor& y, const Options& options) {
  check(x, y, options.classes);
  x_ = x.detach().cpu().contiguous();
  y_ = y.detach().cpu().contiguous();
  form_ = {.input_sizes = x_.sizes().slice(1).vec(),
           .input_type = x_.scalar_type(),
           .target_sizes = y_.sizes().slice(1).vec(),
           .target_type = y_.scalar_type(),
           .classes = options.classes,
           .class_names = options.class_names};
}

void TensorSource::read(std::int64_t sample, const SampleKey&, void* input, void* target) const {
  TRIREME_CHECK(sample >= 0 && sample < count(), "sample ", sample, " of ", count());
  copy_row(x_, sample, form_.input_bytes(), input);
  copy_row(y_, sample, form_.target_bytes(), target);
}

}  // namespace trireme::data::memory
