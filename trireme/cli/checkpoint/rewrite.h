// `trireme checkpoint reshard` and `diff`: the commands that process whole checkpoints without
// torch.

#pragma once

#include <filesystem>
#include <string>

#include "trireme/checkpoint/format/reader.h"

namespace trireme::cli {

struct ReshardWords {
  std::string parts;  // empty: the same number as before
  std::string to;     // a folder of checkpoints; empty: the one that contains it
  std::string new_key;
  bool is_decrypted = false;
  bool is_compressed = false;
  bool is_expanded = false;

  bool are_given() const {
    return !parts.empty() || !to.empty() || !new_key.empty() || is_decrypted || is_compressed ||
           is_expanded;
  }
};

// Tells the user, on standard error, that a key was given and the checkpoint is not signed with it.
void warn_if_unsigned(const checkpoint::format::Reader& reader);

int reshard_checkpoint(const std::filesystem::path& path, const ReshardWords& words,
                       const checkpoint::format::ReadOptions& reading);

// Returns 1 if they differ.
int diff_checkpoints(const std::filesystem::path& a, const std::filesystem::path& b,
                     const checkpoint::format::ReadOptions& reading, bool is_json);

}  // namespace trireme::cli
