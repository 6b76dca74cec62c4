// A folder whose folders are classes, and whose files therein are samples.
//
// Meaning: classes are the folders in the order of their names, samples the files in the order of
//          theirs, class by class.
// Threads: pure.
// Failure: NotFound where there is no such folder; InvalidInput where it has no files, or a class
//          that is not among those that there may be.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace trireme::data {

struct ClassFile {
  std::string name;  // below the folder
  std::int32_t label = 0;
};

struct ClassFolder {
  std::vector<std::string> classes = {};
  std::vector<ClassFile> files = {};
};

// `endings` in small letters, with their dots; `classes` are those that there may be, empty:
// whatever folders there are.
ClassFolder list_classes(const std::filesystem::path& folder,
                         const std::vector<std::string>& endings,
                         const std::vector<std::string>& classes = {});

}  // namespace trireme::data
