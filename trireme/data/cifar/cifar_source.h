// CifarSource is CIFAR-10 or CIFAR-100 in the original binary format, memory-mapped: records of one
// or two labels and 3 * 32 * 32 bytes.
//
// Semantics:     the input is (3, 32, 32) with values from 0 to 1, red first; the target is the
//                label. Class names are read from batches.meta.txt, fine_label_names.txt or
//                coarse_label_names.txt, if that file is beside the data.
// Thread safety: immutable; any thread.
// Errors:        NotFound, with which files to put where; Corrupt, with file and offset, for a
//                truncated record or an invalid label.

#pragma once

#include <filesystem>
#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/base/file/mapped_file.h"
#include "trireme/data/registry.h"
#include "trireme/data/source/source.h"

namespace trireme::data::cifar {

enum class CifarName {
  Cifar10,
  Cifar100,
  Cifar20,  // CIFAR-100 with its twenty superclasses
};

// The `[data]` section of kind cifar.
struct CifarConfig {
  CifarName set = CifarName::Cifar10;
  std::filesystem::path folder;

  static void describe(config::Fields<CifarConfig>& f);
};

class CifarSource final : public Source {
 public:
  CifarSource(const std::vector<std::filesystem::path>& files, CifarName set);

  std::int64_t count() const override { return ends_.empty() ? 0 : ends_.back(); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;
  void read_target(std::int64_t sample, void* target) const override;

 private:
  const std::uint8_t* record(std::int64_t sample) const;

  std::vector<MappedFile> files_;
  std::vector<std::int64_t> ends_;  // records in this file and all files before it
  std::size_t labels_;              // label bytes before the pixels
  std::size_t label_at_;
  Form form_;
};

Sets open_cifar(const CifarConfig& config);
std::shared_ptr<const Source> open_test_cifar(const CifarConfig& config);

}  // namespace trireme::data::cifar
