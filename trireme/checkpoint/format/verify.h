// Whether a checkpoint is whole, told by reading all of it; and the newest one that is.
//
// Failure: damage is what is returned, not thrown. What says nothing about the checkpoint is
// thrown:
//          Io where the operating system refuses to read, Exhausted where descriptors or memory
//          are short, Unsupported for one of a later version.
// Threads: any; a checkpoint that is removed meanwhile reads as damaged.

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/error.h"

namespace trireme::checkpoint::format {

// Whether an error of reading is about the checkpoint itself.
bool is_damage(const Error& error) noexcept;

// One sentence a piece of damage, with its file, tensor and byte; none when all is whole.
std::vector<std::string> damage_in(const std::filesystem::path& checkpoint);

struct Skipped {
  std::filesystem::path path;
  std::string reason;
};

struct Newest {
  std::optional<std::filesystem::path> path;
  std::vector<Skipped> skipped;  // newer, and damaged
};

Newest find_newest_whole(const std::filesystem::path& folder);

}  // namespace trireme::checkpoint::format
