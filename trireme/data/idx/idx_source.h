// IdxSource is a pair of IDX files: images (N, H, W) or (N, H, W, C) and labels (N).
//
// Semantics: an input is (C, H, W) of float32 in [0, 1]; a target is an int64 label.
// Errors:    the constructor throws Corrupt, with file and offset, if the two files do not match or
//            a label is not below `classes`.

#pragma once

#include "trireme/data/idx/idx_file.h"
#include "trireme/data/source/source.h"

namespace trireme::data::idx {

class IdxSource final : public Source {
 public:
  // With classes = 0, the number of classes is the largest label plus one.
  IdxSource(IdxFile images, IdxFile labels, std::int64_t classes = 0,
            std::vector<std::string> class_names = {});

  std::int64_t count() const override { return images_.sizes()[0]; }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;
  void read_target(std::int64_t sample, void* target) const override;

 private:
  IdxFile images_;
  IdxFile labels_;
  Form form_;
};

}  // namespace trireme::data::idx
