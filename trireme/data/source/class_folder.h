// A folder with one sub-folder per class, whose files are the samples.
//
// Semantics:     classes are the sub-folders and samples are the files, class by class, both in the
//                order of their names. Names that begin with a dot are ignored.
// Thread safety: pure functions; any thread.
// Errors:        NotFound if the folder does not exist; InvalidInput if it has no files, or a class
//                without files or that is not among the allowed ones.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::data {

// What happens to a sample whose file is damaged.
enum class BadSamples {
  Error,  // the job fails
  Skip,   // the sample is left out and counted
};

// For a configuration with such a member.
template <class Config>
void describe_bad_samples(config::Fields<Config>& f) {
  f.add("bad_samples", &Config::bad_samples)
      .names({{"error", BadSamples::Error}, {"skip", BadSamples::Skip}})
      .help("what a damaged file does: end the job with an error, or be skipped and counted");
}

// Appended to the error message about a damaged file.
inline constexpr const char* kSkipAdvice =
    ". Repair or remove the file, or set data.bad_samples = \"skip\" to leave damaged files out";

struct ClassFile {
  std::string name;  // relative to the folder
  std::int32_t label = 0;
};

struct ClassFolder {
  std::vector<std::string> classes = {};
  std::vector<ClassFile> files = {};
};

// `endings` are in lower case and include the dot. `classes` are the allowed classes; empty allows
// all sub-folders.
ClassFolder list_classes(const std::filesystem::path& folder,
                         const std::vector<std::string>& endings,
                         const std::vector<std::string>& classes = {});

// Compares without regard to upper and lower case.
bool has_ending(const std::filesystem::path& path, const std::vector<std::string>& endings);

// All files with these endings in a folder and its sub-folders, in the order of their relative
// names.
std::vector<std::string> files_below(const std::filesystem::path& folder,
                                     const std::vector<std::string>& endings);

}  // namespace trireme::data
