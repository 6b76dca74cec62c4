#include "trireme/data/class_folder.h"

#include <algorithm>

#include "trireme/base/error.h"

namespace trireme::data {
namespace {

namespace fs = std::filesystem;

std::string ending_of(const fs::path& path) {
  std::string end = path.extension().string();
  std::ranges::transform(end, end.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  return end;
}

template <class Wanted>
std::vector<std::string> sorted_names(const fs::path& folder, const Wanted& is_wanted) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (is_wanted(entry)) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

ClassFolder list_classes(const fs::path& folder, const std::vector<std::string>& endings,
                         const std::vector<std::string>& classes) {
  if (!fs::is_directory(folder)) {
    throw Error(ErrorCode::NotFound, folder.string() + " is no folder");
  }
  const std::vector<std::string> found =
      sorted_names(folder, [](const fs::directory_entry& entry) { return entry.is_directory(); });
  ClassFolder all{.classes = classes.empty() ? found : classes};
  for (const std::string& name : found) {
    const auto known = std::ranges::find(all.classes, name);
    if (known == all.classes.end()) {
      throw Error(ErrorCode::InvalidInput,
                  (folder / name).string() + ": there is no such class to train on");
    }
    const auto is_sample = [&](const fs::directory_entry& entry) {
      return std::ranges::find(endings, ending_of(entry.path())) != endings.end();
    };
    for (const std::string& file : sorted_names(folder / name, is_sample)) {
      all.files.push_back({.name = name + "/" + file,
                           .label = static_cast<std::int32_t>(known - all.classes.begin())});
    }
  }
  if (!all.files.empty()) return all;
  std::string wanted;
  for (const std::string& ending : endings) wanted += (wanted.empty() ? "" : ", ") + ending;
  throw Error(ErrorCode::InvalidInput,
              folder.string() + " has no folders of files that end in " + wanted);
}

}  // namespace trireme::data
