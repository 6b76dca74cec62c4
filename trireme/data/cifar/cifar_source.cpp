#include "trireme/data/cifar/cifar_source.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/mapped_file.h"

namespace trireme::data::cifar {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPixels = std::size_t{3} * 32 * 32;

std::int64_t classes_of(CifarName set) {
  return set == CifarName::Cifar10 ? 10 : set == CifarName::Cifar100 ? 100 : 20;
}

std::vector<std::string> names_in(const fs::path& folder, CifarName set) {
  const char* const file = set == CifarName::Cifar10    ? "batches.meta.txt"
                           : set == CifarName::Cifar100 ? "fine_label_names.txt"
                                                        : "coarse_label_names.txt";
  if (!fs::is_regular_file(folder / file)) return {};
  std::vector<std::string> names;
  const std::string text = read_file(folder / file);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (std::ssize(names) != classes_of(set)) names.clear();
  return names;
}

std::vector<fs::path> existing(const fs::path& folder, const std::vector<std::string>& names) {
  std::vector<fs::path> files;
  for (const std::string& name : names) {
    if (!fs::is_regular_file(folder / name)) {
      throw Error(ErrorCode::NotFound,
                  "data.folder: " + (folder / name).string() +
                      " is missing: put the binary version of the set there, unpacked");
    }
    files.push_back(folder / name);
  }
  return files;
}

void require_folder(const CifarConfig& config) {
  if (!config.folder.empty()) return;
  throw Error(ErrorCode::InvalidInput,
              "data.folder: name the folder of the set's binary version, for example "
              "data.folder=cifar-10-batches-bin");
}

class CifarSource final : public Source {
 public:
  CifarSource(const std::vector<fs::path>& files, CifarName set)
      : labels_(set == CifarName::Cifar10 ? 1 : 2), label_at_(set == CifarName::Cifar100 ? 1 : 0) {
    const std::int64_t classes = classes_of(set);
    const std::size_t size = labels_ + kPixels;
    for (const fs::path& path : files) {
      const MappedFile& file = files_.emplace_back(path);
      const std::size_t records = file.bytes().size() / size;
      if (records * size != file.bytes().size()) {
        throw Error(ErrorCode::Corrupt,
                    file.name() + ": at byte " + std::to_string(records * size) +
                        ": the file ends within a record of " + std::to_string(size) + " bytes");
      }
      for (std::size_t i = 0; i < records; ++i) {
        const std::size_t at = i * size + label_at_;
        const auto label = std::to_integer<std::int64_t>(file.bytes()[at]);
        if (label < classes) continue;
        throw Error(ErrorCode::Corrupt, file.name() + ": at byte " + std::to_string(at) +
                                            ": label " + std::to_string(label) + " of " +
                                            std::to_string(classes));
      }
      ends_.push_back(count() + static_cast<std::int64_t>(records));
    }
    form_ = {.input_sizes = {3, 32, 32}, .classes = classes};
    if (!files.empty()) form_.class_names = names_in(files.front().parent_path(), set);
  }

  std::int64_t count() const override { return ends_.empty() ? 0 : ends_.back(); }
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey&, void* input, void* target) const override {
    const std::uint8_t* const from = record(sample);
    auto* const to = static_cast<float*>(input);
    for (std::size_t i = 0; i < kPixels; ++i)
      to[i] = static_cast<float>(from[labels_ + i]) / 255.0F;
    *static_cast<std::int64_t*>(target) = from[label_at_];
  }

  void read_target(std::int64_t sample, void* target) const override {
    *static_cast<std::int64_t*>(target) = record(sample)[label_at_];
  }

 private:
  const std::uint8_t* record(std::int64_t sample) const {
    TRIREME_CHECK(sample >= 0 && sample < count(), "sample ", sample, " of ", count());
    const auto file = static_cast<std::size_t>(
        std::upper_bound(ends_.begin(), ends_.end(), sample) - ends_.begin());
    const std::int64_t within = sample - (file == 0 ? 0 : ends_[file - 1]);
    return reinterpret_cast<const std::uint8_t*>(files_[file].bytes().data()) +
           static_cast<std::size_t>(within) * (labels_ + kPixels);
  }

  std::vector<MappedFile> files_;
  std::vector<std::int64_t> ends_;  // records in this file and all files before it
  std::size_t labels_;              // label bytes before the pixels
  std::size_t label_at_;
  Form form_;
};

}  // namespace

Sets open_cifar(const CifarConfig& config) {
  require_folder(config);
  const bool is_ten = config.set == CifarName::Cifar10;
  const std::vector<std::string> train =
      is_ten ? std::vector<std::string>{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                        "data_batch_4.bin", "data_batch_5.bin"}
             : std::vector<std::string>{"train.bin"};
  return {.train = std::make_shared<CifarSource>(existing(config.folder, train), config.set),
          .test = open_test_cifar(config)};
}

std::shared_ptr<const Source> open_test_cifar(const CifarConfig& config) {
  require_folder(config);
  const std::string name = config.set == CifarName::Cifar10 ? "test_batch.bin" : "test.bin";
  return std::make_shared<CifarSource>(existing(config.folder, {name}), config.set);
}

void CifarConfig::describe(config::Fields<CifarConfig>& f) {
  f.add("set", &CifarConfig::set)
      .names({{"cifar10", CifarName::Cifar10},
              {"cifar100", CifarName::Cifar100},
              {"cifar20", CifarName::Cifar20}})
      .help("cifar10, cifar100, or cifar20: CIFAR-100 by its coarse labels");
  f.add("folder", &CifarConfig::folder)
      .help(
          "folder of the binary version: data_batch_1.bin to _5 and test_batch.bin, or train.bin "
          "and "
          "test.bin");
}

}  // namespace trireme::data::cifar
