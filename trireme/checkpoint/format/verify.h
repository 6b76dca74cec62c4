// Checks whether a checkpoint is complete by reading all of it, and finds the newest complete
// checkpoint.
//
// Errors:        damage is returned, not thrown. An error that says nothing about the checkpoint is
//                thrown: Io if the operating system refuses to read, Exhausted if descriptors or
//                memory run out, Unsupported for a checkpoint of another version, InvalidInput for
//                one that is not signed with the given key.
// Thread safety: any thread. A checkpoint that is removed during the check is reported as damaged.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/checkpoint/format/seal.h"

namespace trireme::checkpoint::format {

// Whether a read error means that the checkpoint itself is damaged.
bool is_damage(const Error& error) noexcept;

// Throws Corrupt for a meta that its writer cannot have saved with a checkpoint of this step. The
// format leaves the contents of the meta to the caller, who therefore brings the check.
using MetaCheck = std::function<void(const std::string& meta, std::int64_t step)>;

// One sentence per damage, with file, tensor and byte; empty if the checkpoint is complete. With a
// key, data that was not written with that key is damage too.
std::vector<std::string> damage_in(const std::filesystem::path& checkpoint,
                                   const ReadOptions& options = {}, const MetaCheck& check = {});

struct Skipped {
  std::filesystem::path path;
  std::string reason;
};

struct Newest {
  std::optional<std::filesystem::path> path;
  std::vector<Skipped> skipped;  // newer, but damaged
};

// A checkpoint that is removed while it is read counts as absent, not as damaged.
Newest find_newest_whole(const std::filesystem::path& folder, const ReadOptions& options = {},
                         const MetaCheck& check = {});

}  // namespace trireme::checkpoint::format
