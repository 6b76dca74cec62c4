// What data look like to `trireme new`: which task they are for, and what a recipe has to say about
// them.
//
// Thread safety: pure functions.
// Errors:        NotFound if there is no such file or folder; InvalidInput for data that no task
//                can use, and what look_at_table() and data::list_classes() throw.

#pragma once

#include <cstdint>
#include <filesystem>

namespace trireme::cli::starter {

enum class Task { Tabular, Images, Text };

inline constexpr const char* kTaskNames[] = {"tabular", "images", "text"};

// A folder is for images; a file is a table if its name or its beginning says so, otherwise a text.
Task guess_task(const std::filesystem::path& data);

struct ImagesLook {
  std::filesystem::path train;
  std::filesystem::path test = {};  // empty: none
  std::size_t classes = 0;
  std::size_t files = 0;  // to train on
};

// A folder of class folders, or one with `train` and perhaps `test`, `val` or `valid` in it.
ImagesLook look_at_images(const std::filesystem::path& folder);

struct TextLook {
  std::uintmax_t bytes = 0;
  bool is_utf8 = true;  // the first MiB; otherwise tokens are bytes
};

TextLook look_at_text(const std::filesystem::path& file);

}  // namespace trireme::cli::starter
