// `trireme checkpoint reshard` and `diff`: what reads and writes whole checkpoints without torch.

#pragma once

#include <filesystem>
#include <string>

namespace trireme::cli {

struct ReshardWords {
  std::string parts;  // empty: as many as there are
  std::string to;     // a folder of checkpoints; empty: the one it lies in
  std::string key;    // files
  std::string new_key;
  bool is_decrypted = false;
  bool is_compressed = false;
  bool is_expanded = false;
};

int reshard_checkpoint(const std::filesystem::path& path, const ReshardWords& words);

// 1 where they differ.
int diff_checkpoints(const std::filesystem::path& a, const std::filesystem::path& b,
                     const std::string& key, bool is_json);

}  // namespace trireme::cli
