#include "trireme/checkpoint/hugging_face_weights.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/text/json_text.h"

namespace trireme::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhole = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kPickled = "pytorch_model.bin";

// Maps each tensor's name to the file that contains it.
std::map<std::string, std::string> read_index(const fs::path& path) {
  std::map<std::string, std::string> files;
  const std::string text = read_file(path);
  if (is_nested_deeper(text, kJsonDepthMax)) {
    throw Error(ErrorCode::Corrupt,
                path.string() + " is nested too deeply for an index of tensors");
  }
  try {
    const auto json = nlohmann::json::parse(text);
    for (const auto& [name, file] : json.at("weight_map").items()) files[name] = file;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::Corrupt, path.string() + ": " + json_reason(error.what()));
  }
  for (const auto& [name, file] : files) {
    if (fs::path(file).filename() == file && file.ends_with(".safetensors")) continue;
    throw Error(ErrorCode::Corrupt, path.string() + ": tensor " + name + " is in '" + file +
                                        "', which is not a .safetensors file of this folder");
  }
  return files;
}

TensorReader open_sharded(const fs::path& folder) {
  const std::map<std::string, std::string> files = read_index(folder / kIndex);
  std::map<std::string, TensorReader> shards;
  for (const auto& [name, file] : files) {
    auto shard = shards.find(file);
    if (shard == shards.end()) shard = shards.emplace(file, open_tensors(folder / file)).first;
    if (std::ranges::binary_search(shard->second.names, name)) continue;
    throw Error(ErrorCode::Corrupt,
                (folder / kIndex).string() + ": " + file + " has no tensor " + name);
  }
  TensorReader all{.label = folder.string(), .names = {}, .read = {}};
  for (const auto& [name, file] : files) all.names.push_back(name);
  all.read = [files, shards = std::move(shards), folder](const std::string& name) {
    const auto file = files.find(name);
    if (file == files.end()) {
      throw Error(ErrorCode::NotFound, folder.string() + " has no tensor " + name);
    }
    return shards.at(file->second).read(name);
  };
  return all;
}

}  // namespace

bool has_hugging_face_weights(const fs::path& folder) {
  return fs::exists(folder / kIndex) || fs::exists(folder / kWhole) ||
         fs::exists(folder / kPickled);
}

TensorReader open_hugging_face_weights(const fs::path& folder) {
  if (fs::exists(folder / kIndex)) return open_sharded(folder);
  return open_tensors(folder / (fs::exists(folder / kWhole) ? kWhole : kPickled));
}

}  // namespace trireme::checkpoint
