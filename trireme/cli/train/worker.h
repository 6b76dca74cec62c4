// Worker is the program that trains, from the view of `trireme`: its path and the settings that it
// declares. The built-in worker is next to `trireme`; a custom worker is given with --worker.
//
// A worker describes itself as JSON (`worker describe`). The description of the built-in worker is
// a file next to it, created by the build, because loading torch takes longer than everything else
// here.
//
// Errors: NotFound or InvalidInput if there is no such program, or if it is not a worker.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/base/config/schema.h"

namespace trireme::cli {

class Worker {
 public:
  // Empty: the built-in one.
  explicit Worker(const std::string& name = "");

  const std::filesystem::path& path() const noexcept { return path_; }
  config::Schema schema() const;

 private:
  std::string description() const;

  std::filesystem::path path_;
};

// A recipe and the settings that the command line overrides.
struct RecipeWords {
  std::string recipe;
  std::vector<std::string> overrides;
  std::filesystem::path resumed = {};  // folder of the job that is resumed; empty: a new job

  // Reads the file and reports every mistake that the worker's description reveals.
  config::Config read(const Worker& worker) const;
};

}  // namespace trireme::cli
