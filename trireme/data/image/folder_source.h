// FolderSource is a folder of pictures, a folder a class, decoded as they are read.
//
// Meaning: classes are the folders in the order of their names, samples the files in the order of
//          theirs. Input (3, H, W), or (1, H, W) of grey ones, of values from 0 to 1.
// Threads: constant; any thread.
// Failure: NotFound, InvalidInput where there is no picture; read() throws Corrupt with the file's
//          name, and Unsupported where this build lacks a library.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/data/class_folder.h"
#include "trireme/data/image/folder_config.h"
#include "trireme/data/image/pixels.h"
#include "trireme/data/registry.h"
#include "trireme/data/source.h"

namespace trireme::data::image {

class FolderSource final : public Source {
 public:
  // `classes` are those that there may be; empty: whatever folders there are.
  FolderSource(const std::filesystem::path& folder, const FolderConfig& config,
               const std::vector<std::string>& classes = {});

  std::int64_t count() const override { return std::ssize(files_); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;
  // Decodes what the image has room for, and writes it where it belongs.
  void read_placed(std::int64_t sample, const SampleKey& key, const transform::Placement& placement,
                   void* input, void* target) const override;
  void read_target(std::int64_t sample, void* target) const override;

 private:
  const ClassFile& file(std::int64_t sample) const;

  std::filesystem::path folder_;
  bool is_grey_;
  std::vector<ClassFile> files_;
  Form form_;
};

Sets open_images(const FolderConfig& config);

}  // namespace trireme::data::image
