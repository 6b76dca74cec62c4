// FolderSource reads a folder of images, with one sub-folder per class. Images are decoded when
// they are read.
//
// Semantics:     classes are the sub-folders and samples are the files, both in the order of their
//                names. The input is (3, H, W), or (1, H, W) for greyscale, with values from 0 to
//                1.
// Thread safety: immutable; any thread.
// Errors:        NotFound; InvalidInput if there is no image; read() throws Corrupt with the name
//                of the file, and Unsupported if this build lacks a library.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/data/image/pixels.h"
#include "trireme/data/preprocessing.h"
#include "trireme/data/registry.h"
#include "trireme/data/source/class_folder.h"
#include "trireme/data/source/source.h"

namespace trireme::data::image {

// The `[data]` section of kind images.
struct FolderConfig {
  std::filesystem::path train;
  std::filesystem::path test = {};  // NOLINT(readability-redundant-member-init)
  std::vector<std::int64_t> size = {224, 224};
  bool is_grey = false;
  BadSamples bad_samples = BadSamples::Error;

  static void describe(config::Fields<FolderConfig>& f);
};

class FolderSource final : public Source {
 public:
  // `classes` are the allowed classes; empty allows all sub-folders.
  FolderSource(const std::filesystem::path& folder, const FolderConfig& config,
               const std::vector<std::string>& classes = {});
  // Images without a class, in this order; `form` describes the result. `can_skip`: whether a
  // setting exists that skips damaged images, which error messages then mention. Throws
  // InvalidInput if `form` does not describe images.
  FolderSource(std::filesystem::path folder, std::vector<ClassFile> files, Form form,
               bool can_skip);

  std::int64_t count() const override { return std::ssize(files_); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;
  // Decodes only the part that fits into the image, and writes it at its position.
  void read_placed(std::int64_t sample, const SampleKey& key,
                   const transform::ImagePlacement& placement, void* input,
                   void* target) const override;
  void read_target(std::int64_t sample, void* target) const override;

 private:
  const ClassFile& file(std::int64_t sample) const;

  std::filesystem::path folder_;
  bool is_grey_ = false;
  std::vector<ClassFile> files_;
  Form form_;
  bool can_skip_ = true;
};

Sets open_images(const FolderConfig& config);
std::shared_ptr<const Source> open_test_images(const FolderConfig& config,
                                               const Preprocessing& known);

// Opens a JPEG or PNG file, or all of those in a folder and its sub-folders, in the order of their
// names. Images are resized and converted to the channels that the model was trained with. `form`
// says whether damaged images are skipped; `can_skip`, whether a setting exists for that.
Inputs open_pictures_to_predict(Form form, bool can_skip, const std::filesystem::path& path);

}  // namespace trireme::data::image
