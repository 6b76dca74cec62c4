// DatasetSource makes a source of a torch::data set: any type with size() and with get(index),
// which returns an Example of two tensors.
//
//   DatasetSource source(torch::data::datasets::MNIST(folder), {.classes = 10});
//
// Thread safety: any thread. torch::data sets guarantee no thread safety, so samples are read one
//                at a time and several reader threads are not faster.
// Errors:        InvalidInput for a set without a size, and in read() for a sample whose form
//                differs from the first; the errors of the set.

#pragma once

#include <torch/data/example.h>

#include <cstring>
#include <mutex>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/data/source/source.h"

namespace trireme::data::memory {

template <class Dataset>
class DatasetSource final : public Source {
 public:
  struct Options {
    std::int64_t classes = 0;
    std::vector<std::string> class_names = {};  // NOLINT(readability-redundant-member-init)
  };

  explicit DatasetSource(Dataset dataset, const Options& options) : dataset_(std::move(dataset)) {
    const auto size = dataset_.size();
    if (!size.has_value()) throw Error(ErrorCode::InvalidInput, "the torch::data set has no size");
    count_ = static_cast<std::int64_t>(*size);
    form_ = {.classes = options.classes, .class_names = options.class_names};
    if (count_ == 0) return;
    const torch::data::Example<> first = dataset_.get(0);
    form_.input_sizes = first.data.sizes().vec();
    form_.input_type = first.data.scalar_type();
    form_.target_sizes = first.target.sizes().vec();
    form_.target_type = first.target.scalar_type();
  }
  explicit DatasetSource(Dataset dataset) : DatasetSource(std::move(dataset), Options()) {}

  std::int64_t count() const override { return count_; }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey&, void* input, void* target) const override {
    TRIREME_CHECK(sample >= 0 && sample < count_, "sample ", sample, " of ", count_);
    const torch::data::Example<> example = [&] {
      const std::lock_guard lock(mutex_);
      return dataset_.get(static_cast<std::size_t>(sample));
    }();
    copy(sample, example.data, form_.input_sizes, form_.input_type, input);
    copy(sample, example.target, form_.target_sizes, form_.target_type, target);
  }

 private:
  static void copy(std::int64_t sample, const at::Tensor& from,
                   const std::vector<std::int64_t>& sizes, at::ScalarType type, void* out) {
    if (from.sizes() != at::IntArrayRef(sizes) || from.scalar_type() != type) {
      throw Error(ErrorCode::InvalidInput,
                  "sample " + std::to_string(sample) +
                      " of the torch::data set is not formed as its first");
    }
    const at::Tensor flat = from.cpu().contiguous();
    if (flat.nbytes() > 0) std::memcpy(out, flat.const_data_ptr(), flat.nbytes());
  }

  mutable std::mutex mutex_;
  mutable Dataset dataset_;  // get() is not const
  std::int64_t count_ = 0;
  Form form_;
};

}  // namespace trireme::data::memory
