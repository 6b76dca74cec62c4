// The output file of --json, for all benchmarks. It is opened before anything runs, so that a
// mistyped path fails immediately and not after minutes of measuring.

#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "trireme/base/error.h"

namespace trireme::cli {

struct FileClosed {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileClosed>;

// Returns null if no path was given. Throws InvalidInput if the file cannot be written.
inline File open_json(const std::string& path) {
  if (path.empty()) return nullptr;
  File file(std::fopen(path.c_str(), "we"));
  if (!file) throw Error(ErrorCode::InvalidInput, "--json " + path + " cannot be written");
  return file;
}

// Writes one line, at once; nothing without a file.
inline void write_line(const File& file, const std::string& line) {
  if (!file) return;
  std::fprintf(file.get(), "%s\n", line.c_str());
  std::fflush(file.get());
}

}  // namespace trireme::cli
