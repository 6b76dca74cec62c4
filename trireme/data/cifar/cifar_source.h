// CifarSource is CIFAR-10 or CIFAR-100 in its authors' binary version, mapped: records of one or
// two labels and 3 * 32 * 32 bytes.
//
// Meaning: input (3, 32, 32) of values from 0 to 1, red first; target the label. Classes have the
//          names of batches.meta.txt, fine_label_names.txt or coarse_label_names.txt, where it lies
//          beside the data.
// Threads: constant; any thread.
// Failure: NotFound with what to put where; Corrupt, with file and offset, for a torn record or a
//          label that is none.

#pragma once

#include <filesystem>
#include <vector>

#include "trireme/base/mapped_file.h"
#include "trireme/data/cifar/cifar_config.h"
#include "trireme/data/registry.h"
#include "trireme/data/source.h"

namespace trireme::data::cifar {

class CifarSource final : public Source {
 public:
  CifarSource(const std::vector<std::filesystem::path>& files, Name set);

  std::int64_t count() const override { return ends_.empty() ? 0 : ends_.back(); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;
  void read_target(std::int64_t sample, void* target) const override;

 private:
  const std::uint8_t* record(std::int64_t sample) const;

  std::vector<MappedFile> files_;
  std::vector<std::int64_t> ends_;  // records in this file and all before
  std::size_t labels_;              // bytes before the pixels
  std::size_t label_at_;
  Form form_;
};

Sets open_cifar(const CifarConfig& config);

}  // namespace trireme::data::cifar
