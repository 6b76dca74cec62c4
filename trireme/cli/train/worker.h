// Worker is the program that trains, as `trireme` sees it: where it is, and which settings it says
// it has. The built-in one lies beside `trireme`; a user's own is named with --worker.
//
// A worker describes itself as JSON (`worker describe`). The built-in one's description is a file
// beside it, made when it was built, because loading torch takes longer than everything else here.
//
// Failure: NotFound or InvalidInput where there is no such program, or it is no worker.

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

// A recipe and what the command line changes of it.
struct RecipeWords {
  std::string recipe;
  std::vector<std::string> overrides;

  // Reads the file, and finds every mistake that the worker's description shows.
  config::Config read(const Worker& worker) const;
};

}  // namespace trireme::cli
