#include "trireme/cluster/launch/rank/program.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/text/nearest.h"

namespace trireme::cluster::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPathDefault = "/usr/local/bin:/usr/bin:/bin";

bool is_runnable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::vector<fs::path> path_folders() {
  const char* text = std::getenv("PATH");
  std::string_view rest = text != nullptr ? text : kPathDefault;
  std::vector<fs::path> folders;
  while (true) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    // An empty entry means the current folder.
    folders.emplace_back(colon == 0 ? "." : rest.substr(0, colon));
    if (colon == rest.size()) return folders;
    rest.remove_prefix(colon + 1);
  }
}

std::string mistake_in(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return "is a folder";
  if (!fs::exists(path, error)) return "does not exist";
  return "is not executable (chmod +x " + path.string() + "?)";
}

// Executable files whose names can be suggested instead.
std::vector<std::string> runnable_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_runnable(entry->path())) names.push_back(entry->path().filename().string());
  }
  return names;
}

}  // namespace

fs::path find_program(const std::string& name) {
  const bool is_path = name.find('/') != std::string::npos;
  if (is_path) {
    const fs::path path(name);
    if (is_runnable(path)) return path;
    fs::path folder = path.parent_path();
    std::string message = "program " + name + " " + mistake_in(path);
    const auto near = nearest(path.filename().string(), runnable_in(folder));
    if (near) message += "; did you mean " + (folder / *near).string() + "?";
    throw Error(ErrorCode::InvalidInput, message);
  }
  const std::vector<fs::path> folders = path_folders();
  for (const fs::path& folder : folders) {
    if (is_runnable(folder / name)) return folder / name;
  }
  std::vector<std::string> names;
  for (const fs::path& folder : folders) {
    const std::vector<std::string> more = runnable_in(folder);
    names.insert(names.end(), more.begin(), more.end());
  }
  std::string message = "program " + name + " is not in $PATH";
  if (is_runnable(fs::path(".") / name)) {
    message += "; did you mean ./" + name + "?";
  } else if (const auto near = nearest(name, names)) {
    message += "; did you mean " + *near + "?";
  }
  throw Error(ErrorCode::InvalidInput, message);
}

}  // namespace trireme::cluster::launch
