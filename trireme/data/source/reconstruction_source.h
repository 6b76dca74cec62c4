// ReconstructionSource is a source whose targets are its inputs, for training an autoencoder.
//
// Thread safety: any thread.
// Errors:        InvalidInput if the samples are not numbers.

#pragma once

#include <memory>
#include <vector>

#include "trireme/data/source/source.h"

namespace trireme::data {

class ReconstructionSource final : public Source {
 public:
  explicit ReconstructionSource(std::shared_ptr<const Source> source);

  std::int64_t count() const override { return source_->count(); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;

 private:
  std::shared_ptr<const Source> source_;
  Form form_;
};

}  // namespace trireme::data
