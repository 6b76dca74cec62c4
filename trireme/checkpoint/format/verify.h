// Whether a checkpoint is whole, told by reading all of it; and the newest one that is.
//
// Failure: damage is what is returned, not thrown. Io where the operating system refuses to read.
// Threads: any; a checkpoint that is removed meanwhile reads as damaged.

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trireme::checkpoint::format {

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
