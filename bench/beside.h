// The programs that a benchmark starts lie in the folder of the running program, as they do in a
// build folder and in an installation.
//
// Thread safety: pure functions, except that the file system is read.

#pragma once

#include <filesystem>
#include <string>

namespace trireme::bench {

// Whether or not there is such a program.
inline std::filesystem::path beside(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

// The same, but empty if there is no such file.
inline std::filesystem::path find_beside(const std::string& name) {
  const std::filesystem::path path = beside(name);
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) ? path : std::filesystem::path();
}

}  // namespace trireme::bench
