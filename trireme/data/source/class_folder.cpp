#include "trireme/data/source/class_folder.h"

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

// Hidden files and folders, such as .ipynb_checkpoints, are no samples and no classes.
template <class Wanted>
std::vector<std::string> sorted_names(const fs::path& folder, const Wanted& is_wanted) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with('.') && is_wanted(entry)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

std::string endings_text(const std::vector<std::string>& endings) {
  std::string all;
  for (const std::string& ending : endings) all += (all.empty() ? "" : ", ") + ending;
  return all;
}

}  // namespace

bool has_ending(const fs::path& path, const std::vector<std::string>& endings) {
  return std::ranges::find(endings, ending_of(path)) != endings.end();
}

std::vector<std::string> files_below(const fs::path& folder,
                                     const std::vector<std::string>& endings) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || !has_ending(entry.path(), endings)) continue;
    names.push_back(entry.path().lexically_relative(folder).string());
  }
  std::ranges::sort(names);
  return names;
}

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
      return has_ending(entry.path(), endings);
    };
    const std::vector<std::string> files = sorted_names(folder / name, is_sample);
    if (files.empty()) {
      throw Error(ErrorCode::InvalidInput, (folder / name).string() + " has no files that end in " +
                                               endings_text(endings) +
                                               ". Add files of this class or remove the folder.");
    }
    for (const std::string& file : files) {
      all.files.push_back({.name = name + "/" + file,
                           .label = static_cast<std::int32_t>(known - all.classes.begin())});
    }
  }
  if (!all.files.empty()) return all;
  throw Error(ErrorCode::InvalidInput,
              folder.string() + " has no folders of files that end in " + endings_text(endings));
}

}  // namespace trireme::data
