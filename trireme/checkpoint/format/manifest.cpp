#include "trireme/checkpoint/format/manifest.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "trireme/base/bytes.h"
#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/whole_number.h"
#include "trireme/base/xxh64.h"
#include "trireme/checkpoint/format/safetensors.h"

namespace trireme::checkpoint::format {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormatName = "trireme-checkpoint";
constexpr std::string_view kCompression = "zstd";
constexpr std::string_view kCipher = "aes-256-gcm";
constexpr std::string_view kSeal = ",\n\"checksum\":\"";

std::string hex_of(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4)
    text[static_cast<std::size_t>(i)] = kDigits[value & 15];
  return text;
}

std::uint64_t value_of(const std::string& hex) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), value, 16);
  if (hex.size() != 16 || error != std::errc{} || end != hex.data() + hex.size()) {
    throw Error(ErrorCode::Corrupt, "'" + hex + "' is no checksum");
  }
  return value;
}

[[noreturn]] void corrupt(const std::string& file, const std::string& what) {
  throw Error(ErrorCode::Corrupt, file + " is damaged: " + what);
}

Json json_of(const StoredPiece& piece) {
  Json checksums = Json::array();
  for (const std::uint64_t checksum : piece.checksums) checksums.push_back(hex_of(checksum));
  Json json{{"file", piece.file},
            {"begin", piece.begin},
            {"count", piece.count},
            {"offset", piece.offset},
            {"checksums", checksums}};
  if (!piece.stored.empty()) json["stored"] = piece.stored;
  return json;
}

Json json_of(const StoredFile& file) {
  Json json{{"name", file.name}, {"size", file.size}};
  if (file.is_compressed) json["compress"] = kCompression;
  if (!file.key_id.empty()) {
    json["cipher"] = kCipher;
    json["key"] = file.key_id;
    json["salt"] = file.salt;
  }
  return json;
}

StoredFile file_from(const Json& json) {
  StoredFile file{.name = json.at("name").get<std::string>(),
                  .size = whole_number<std::uint64_t>(json.at("size"))};
  const std::string compression = json.value("compress", ""), cipher = json.value("cipher", "");
  if ((!compression.empty() && compression != kCompression) ||
      (!cipher.empty() && cipher != kCipher)) {
    throw Error(ErrorCode::Unsupported,
                file.name + " is written with " + compression + " " + cipher);
  }
  file.is_compressed = !compression.empty();
  if (!cipher.empty()) {
    file.key_id = json.at("key").get<std::string>();
    file.salt = json.at("salt").get<std::string>();
  }
  return file;
}

StoredPiece piece_from(const Json& json) {
  StoredPiece piece{.file = json.at("file").get<std::string>(),
                    .begin = whole_number<std::int64_t>(json.at("begin")),
                    .count = whole_number<std::int64_t>(json.at("count")),
                    .offset = whole_number<std::uint64_t>(json.at("offset"))};
  for (const Json& checksum : json.at("checksums")) {
    piece.checksums.push_back(value_of(checksum.get<std::string>()));
  }
  if (json.contains("stored")) piece.stored = whole_numbers<std::uint64_t>(json["stored"]);
  return piece;
}

StoredTensor tensor_from(const Json& json) {
  StoredTensor tensor{.name = json.at("name").get<std::string>()};
  const auto dtype = dtype_named(json.at("dtype").get<std::string>());
  if (!dtype) throw Error(ErrorCode::Corrupt, "elements of type " + json.at("dtype").dump());
  tensor.dtype = *dtype;
  tensor.sizes = whole_numbers<std::int64_t>(json.at("sizes"));
  try {
    static_cast<void>(tensor.count());
  } catch (const Error& error) {
    throw Error(ErrorCode::Corrupt, "tensor " + tensor.name + ": " + error.message());
  }
  for (const Json& piece : json.at("pieces")) tensor.pieces.push_back(piece_from(piece));
  return tensor;
}

// What is wrong with the pieces of a tensor, which are sorted; nothing when all is well.
std::string gap_in(const StoredTensor& tensor) {
  std::int64_t at = 0;
  for (const StoredPiece& piece : tensor.pieces) {
    if (piece.begin != at || piece.count < 0) {
      return "tensor " + tensor.name + ": a piece begins at element " +
             std::to_string(piece.begin) + " where " + std::to_string(at) + " should";
    }
    if (piece.count > tensor.count() - at) {
      return "tensor " + tensor.name + " has " + std::to_string(tensor.count()) +
             " elements, its pieces more";
    }
    const std::uint64_t size = static_cast<std::uint64_t>(piece.count) * size_of(tensor.dtype);
    if (piece.checksums.size() != (size + kChunkSize - 1) / kChunkSize) {
      return "tensor " + tensor.name + ": " + std::to_string(piece.checksums.size()) +
             " checksums for " + std::to_string(size) + " bytes";
    }
    if (!piece.stored.empty() && piece.stored.size() != piece.checksums.size()) {
      return "tensor " + tensor.name + ": " + std::to_string(piece.stored.size()) +
             " chunks with " + std::to_string(piece.checksums.size()) + " checksums";
    }
    at += piece.count;
  }
  if (at == tensor.count()) return {};
  return "tensor " + tensor.name + " has " + std::to_string(tensor.count()) +
         " elements, its pieces " + std::to_string(at);
}

std::string first_gap(const Manifest& manifest) {
  for (std::size_t i = 0; i < manifest.tensors.size(); ++i) {
    if (i > 0 && manifest.tensors[i - 1].name == manifest.tensors[i].name) {
      return "tensor " + manifest.tensors[i].name + " is there twice";
    }
    if (std::string gap = gap_in(manifest.tensors[i]); !gap.empty()) return gap;
  }
  return {};
}

Manifest manifest_from(const Json& json) {
  Manifest manifest{.step = whole_number<std::int64_t>(json.at("step")),
                    .meta = json.at("meta").dump()};
  if (!json.at("score").is_null()) manifest.score = json.at("score").get<double>();
  manifest.id = json.value("id", "");
  for (const Json& file : json.at("files")) manifest.files.push_back(file_from(file));
  for (const Json& tensor : json.at("tensors")) manifest.tensors.push_back(tensor_from(tensor));
  return manifest;
}

// The text without its last line, which must be the checksum of the rest.
std::string_view unsealed(std::string_view text, const std::string& file) {
  const std::size_t seal = text.rfind(kSeal);
  if (seal == std::string_view::npos) corrupt(file, "its last line is not a checksum");
  const std::string_view body = text.substr(0, seal);
  const std::string_view rest = text.substr(seal + kSeal.size());
  if (rest != hex_of(xxh64(bytes_of(body))) + "\"}\n") corrupt(file, "its checksum does not match");
  return body;
}

}  // namespace

std::int64_t StoredTensor::count() const {
  return count_of(sizes);
}

const StoredTensor* Manifest::find(std::string_view name) const {
  const auto at = std::lower_bound(
      tensors.begin(), tensors.end(), name,
      [](const StoredTensor& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return at != tensors.end() && at->name == name ? &*at : nullptr;
}

std::uint64_t Manifest::data_size() const {
  std::uint64_t size = 0;
  for (const StoredTensor& tensor : tensors) size += tensor.size();
  return size;
}

void settle(Manifest& manifest) {
  std::ranges::sort(manifest.files, {}, &StoredFile::name);
  std::ranges::sort(manifest.tensors, {}, &StoredTensor::name);
  for (StoredTensor& tensor : manifest.tensors) {
    std::ranges::sort(tensor.pieces, {}, &StoredPiece::begin);
  }
  const std::string gap = first_gap(manifest);
  TRIREME_CHECK(gap.empty(), gap);
}

std::string manifest_text(const Manifest& manifest) {
  Json meta = Json::parse(manifest.meta, nullptr, false);
  TRIREME_CHECK(!meta.is_discarded(), "a checkpoint's meta is JSON, not: ", manifest.meta);
  const bool is_sealed = std::ranges::any_of(manifest.files, &StoredFile::is_sealed);
  // A line each for what a person looks for, and a line a tensor.
  std::string text = "{\"format\":\"" + std::string(kFormatName) +
                     "\",\n\"version\":" + std::to_string(is_sealed ? kManifestVersion : 1) +
                     ",\n\"step\":" + std::to_string(manifest.step) +
                     ",\n\"score\":" + (manifest.score ? Json(*manifest.score).dump() : "null") +
                     ",\n\"id\":" + Json(manifest.id).dump() + ",\n\"meta\":" + meta.dump() +
                     ",\n\"files\":[";
  std::string_view comma;
  for (const StoredFile& file : manifest.files) {
    text += std::string(comma) + "\n" + json_of(file).dump();
    comma = ",";
  }
  text += "],\n\"tensors\":[";
  comma = "";
  for (const StoredTensor& tensor : manifest.tensors) {
    Json pieces = Json::array();
    for (const StoredPiece& piece : tensor.pieces) pieces.push_back(json_of(piece));
    text += std::string(comma) + "\n" +
            Json{{"name", tensor.name},
                 {"dtype", name_of(tensor.dtype)},
                 {"sizes", tensor.sizes},
                 {"pieces", std::move(pieces)}}
                .dump();
    comma = ",";
  }
  text += "]";
  return text + std::string(kSeal) + hex_of(xxh64(bytes_of(text))) + "\"}\n";
}

Manifest parse_part_of_manifest(std::string_view text, const std::string& file) {
  const std::string body = std::string(unsealed(text, file)) + "}";
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != kFormatName) {
    corrupt(file, "it is no manifest of a checkpoint");
  }
  try {
    const int version = whole_number<int>(json.at("version"));
    if (version > kManifestVersion) {
      throw Error(ErrorCode::Unsupported, file + " is of version " + std::to_string(version) +
                                              "; this build reads up to " +
                                              std::to_string(kManifestVersion));
    }
    return manifest_from(json);
  } catch (const nlohmann::json::exception& error) {
    corrupt(file, error.what());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Corrupt) throw;
    corrupt(file, error.message());
  }
}

Manifest parse_manifest(std::string_view text, const std::string& file) {
  Manifest manifest = parse_part_of_manifest(text, file);
  if (const std::string gap = first_gap(manifest); !gap.empty()) corrupt(file, gap);
  return manifest;
}

}  // namespace trireme::checkpoint::format
