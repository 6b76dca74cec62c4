#include "trireme/data/image/folder_source.h"

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file.h"
#include "trireme/data/jpeg/jpeg.h"
#include "trireme/data/png/png.h"

namespace trireme::data::image {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileSizeMax = std::size_t{1} << 28;

void decode_any(ByteView bytes, transform::ImageSize size, const transform::Placement& placement,
                bool is_grey, Pixels& pixels) {
  if (jpeg::is_jpeg(bytes)) return jpeg::decode_part(bytes, size, placement, is_grey, pixels);
  if (png::is_png(bytes)) return png::decode(bytes, is_grey, pixels);
  throw Error(ErrorCode::Corrupt, "neither JPEG nor PNG");
}

}  // namespace

FolderSource::FolderSource(const fs::path& folder, const FolderConfig& config,
                           const std::vector<std::string>& classes)
    : folder_(folder), is_grey_(config.is_grey) {
  ClassFolder all = list_classes(folder, {".jpg", ".jpeg", ".png"}, classes);
  files_ = std::move(all.files);
  form_ = {.input_sizes = {is_grey_ ? 1 : 3, config.size.at(0), config.size.at(1)},
           .classes = std::ssize(all.classes),
           .class_names = all.classes};
}

const ClassFile& FolderSource::file(std::int64_t sample) const {
  TRIREME_CHECK(sample >= 0 && sample < count(), "sample ", sample, " of ", count());
  return files_[static_cast<std::size_t>(sample)];
}

void FolderSource::read(std::int64_t sample, const SampleKey& key, void* input,
                        void* target) const {
  read_placed(sample, key, {}, input, target);
}

void FolderSource::read_placed(std::int64_t sample, const SampleKey&,
                               const transform::Placement& placement, void* input,
                               void* target) const {
  const fs::path path = folder_ / file(sample).name;
  const transform::ImageSize size{form_.input_sizes[0], form_.input_sizes[1], form_.input_sizes[2]};
  // A reader's own, kept so that no sample allocates.
  thread_local Pixels pixels;
  try {
    const std::string content = read_file(path, kFileSizeMax);
    decode_any(bytes_of(content), size, placement, is_grey_, pixels);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Corrupt) throw;
    throw Error(ErrorCode::Corrupt, path.string() + ": " + error.message());
  }
  fit(pixels, size, static_cast<float*>(input), placement);
  read_target(sample, target);
}

void FolderSource::read_target(std::int64_t sample, void* target) const {
  *static_cast<std::int64_t*>(target) = file(sample).label;
}

Sets open_images(const FolderConfig& config) {
  if (config.train.empty()) {
    throw Error(ErrorCode::InvalidInput,
                "data.train: name the folder whose folders hold the pictures of a class each");
  }
  auto train = std::make_shared<FolderSource>(config.train, config);
  Sets sets{.train = train, .test = nullptr};
  if (!config.test.empty()) {
    sets.test = std::make_shared<FolderSource>(config.test, config, train->form().class_names);
  }
  return sets;
}

}  // namespace trireme::data::image
