#include "trireme/data/image/folder_source.h"

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/data/jpeg/jpeg.h"
#include "trireme/data/png/png.h"

namespace trireme::data::image {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileSizeMax = std::size_t{1} << 28;
const std::vector<std::string> kEndings = {".jpg", ".jpeg", ".png"};

void decode_any(ByteView bytes, transform::ImageSize size,
                const transform::ImagePlacement& placement, bool is_grey, Pixels& pixels) {
  if (jpeg::is_jpeg(bytes)) return jpeg::decode_part(bytes, size, placement, is_grey, pixels);
  if (png::is_png(bytes)) return png::decode(bytes, is_grey, pixels);
  throw Error(ErrorCode::Corrupt, "neither JPEG nor PNG");
}

// A checkpoint's form, which may be of anything.
Form form_of_pictures(Form form) {
  const bool has_image = form.is_image() &&
                         (form.input_sizes[0] == 1 || form.input_sizes[0] == 3) &&
                         form.input_sizes[1] > 0 && form.input_sizes[2] > 0;
  const bool has_label = form.target_type == at::kLong && form.target_count() == 1;
  if (has_image && has_label) return form;
  throw Error(ErrorCode::InvalidInput,
              "the model was not trained on pictures: its samples are not float32 of 1 or 3 "
              "channels, height and width, each with a class. Predict samples of the kind that it "
              "was trained on");
}

}  // namespace

FolderSource::FolderSource(const fs::path& folder, const FolderConfig& config,
                           const std::vector<std::string>& classes)
    : folder_(folder), is_grey_(config.is_grey) {
  ClassFolder all = list_classes(folder, kEndings, classes);
  files_ = std::move(all.files);
  form_ = {.input_sizes = {is_grey_ ? 1 : 3, config.size.at(0), config.size.at(1)},
           .classes = std::ssize(all.classes),
           .class_names = all.classes,
           .are_bad_samples_skipped = config.bad_samples == BadSamples::Skip};
}

FolderSource::FolderSource(fs::path folder, std::vector<ClassFile> files, Form form, bool can_skip)
    : folder_(std::move(folder)),
      files_(std::move(files)),
      form_(form_of_pictures(std::move(form))),
      can_skip_(can_skip) {
  is_grey_ = form_.input_sizes[0] == 1;
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
                               const transform::ImagePlacement& placement, void* input,
                               void* target) const {
  const fs::path path = folder_ / file(sample).name;
  const transform::ImageSize size{form_.input_sizes[0], form_.input_sizes[1], form_.input_sizes[2]};
  // One buffer per reading thread, so that reading a sample does not allocate.
  thread_local Pixels pixels;
  try {
    const std::string content = read_file(path, kFileSizeMax);
    decode_any(bytes_of(content), size, placement, is_grey_, pixels);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Corrupt) throw;
    const bool is_advised = can_skip_ && !form_.are_bad_samples_skipped;
    throw Error(ErrorCode::Corrupt,
                path.string() + ": " + error.message() + (is_advised ? kSkipAdvice : ""));
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
  sets.test = open_test_images(config, {.source = train->form()});
  return sets;
}

std::shared_ptr<const Source> open_test_images(const FolderConfig& config,
                                               const Preprocessing& known) {
  if (config.test.empty()) return nullptr;
  return std::make_shared<FolderSource>(config.test, config, known.source.class_names);
}

Inputs open_pictures_to_predict(Form form, bool can_skip, const fs::path& path) {
  Inputs inputs{.named_by = "file"};
  const bool is_folder = fs::is_directory(path);
  if (!is_folder && !has_ending(path, kEndings)) {
    throw Error(ErrorCode::InvalidInput,
                path.string() +
                    " is not an image, and this model reads images: name a .jpg, .jpeg or .png "
                    "file, or a folder of them");
  }
  inputs.names =
      is_folder ? files_below(path, kEndings) : std::vector<std::string>{path.filename().string()};
  if (inputs.names.empty()) {
    throw Error(ErrorCode::NotFound, path.string() + " has no .jpg, .jpeg or .png files");
  }
  std::vector<ClassFile> files;
  for (const std::string& name : inputs.names) files.push_back({.name = name});
  inputs.source = std::make_shared<FolderSource>(is_folder ? path : path.parent_path(),
                                                 std::move(files), std::move(form), can_skip);
  return inputs;
}

void FolderConfig::describe(config::Fields<FolderConfig>& f) {
  f.add("train", &FolderConfig::train)
      .help("folder with a folder of .jpg, .jpeg and .png files for each class");
  f.add("test", &FolderConfig::test).help("the same to evaluate on; empty: none");
  f.add("size", &FolderConfig::size)
      .range(1, 1 << 14)
      .help("[height, width]: pictures are scaled to cover it, and their middle is taken");
  f.add("grayscale", &FolderConfig::is_grey).help("one channel instead of three");
  describe_bad_samples(f);
  f.require([](const FolderConfig& c) {
    return c.size.size() == 2 ? std::string() : std::string("size is [height, width]");
  });
}

}  // namespace trireme::data::image
