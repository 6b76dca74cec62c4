#include "trireme/checkpoint/format/manifest_text.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "trireme/base/bytes.h"
#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/hash/xxh64.h"
#include "trireme/base/text/json_text.h"
#include "trireme/base/text/whole_number.h"

namespace trireme::checkpoint::format {
namespace {

using Json = nlohmann::ordered_json;
// Parsed fields are looked up by name; in an ordered object the total time of the lookups grows
// with the square of its size.
using Read = nlohmann::json;

constexpr std::string_view kFormatName = "trireme-checkpoint";
constexpr std::string_view kCompression = "zstd";
constexpr std::string_view kCipher = "aes-256-gcm";
constexpr std::string_view kChecksumField = ",\n\"checksum\":\"";
constexpr std::string_view kKeyField = ",\n\"key\":\"";
constexpr std::string_view kMacField = ",\"mac\":\"";
constexpr std::string_view kEnd = "}\n";
constexpr std::size_t kChecksumSize = 16, kKeySize = 16, kMacSize = 64;

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

// What is the default is left out: a box that is the whole view, a range that is the whole box.
Json json_of(const StoredPiece& piece, const StoredTensor& tensor) {
  Json json{{"file", piece.file}};
  if (piece.box) json["box"] = {{"begin", piece.box->begin}, {"sizes", piece.box->sizes}};
  if (piece.begin != 0 || piece.count != tensor.count_in_box(piece)) {
    json["begin"] = piece.begin;
    json["count"] = piece.count;
  }
  json["offset"] = piece.offset;
  json["checksums"] = Json::array();
  for (const std::uint64_t checksum : piece.checksums) {
    json["checksums"].push_back(hex_of(checksum));
  }
  if (!piece.stored.empty()) json["stored"] = piece.stored;
  return json;
}

Json json_of(const StoredTensor& tensor) {
  Json json{{"name", tensor.name}, {"dtype", name_of(tensor.dtype)}, {"sizes", tensor.sizes()}};
  if (!tensor.view.is_plain()) json["view"] = tensor.view.grouped(tensor.view.sizes());
  json["pieces"] = Json::array();
  for (const StoredPiece& piece : tensor.pieces) json["pieces"].push_back(json_of(piece, tensor));
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

// A field that a later version adds may change the meaning of the known fields, as the box of a
// piece does. Such a manifest is rejected instead of being partly understood.
void expect_fields(const Read& json, std::string_view what,
                   std::initializer_list<std::string_view> known) {
  if (!json.is_object()) {
    throw Error(ErrorCode::Corrupt, "an entry for " + std::string(what) + " is no JSON object");
  }
  for (const auto& [name, value] : json.items()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw Error(ErrorCode::Unsupported, "the field '" + name + "' of " + std::string(what) +
                                            " needs a newer version of Trireme");
  }
}

// The JSON library iterates over an object and a number, too.
const Read& list_at(const Read& json, const char* name) {
  const Read& list = json.at(name);
  if (!list.is_array())
    throw Error(ErrorCode::Corrupt, "its " + std::string(name) + " are no list");
  return list;
}

StoredFile file_from(const Read& json) {
  expect_fields(json, "a file", {"name", "size", "compress", "cipher", "key", "salt"});
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

mesh::Box box_from(const Read& json, const mesh::View& view) {
  expect_fields(json, "a box", {"begin", "sizes"});
  return mesh::Shard(view, {.begin = whole_numbers<std::int64_t>(json.at("begin")),
                            .sizes = whole_numbers<std::int64_t>(json.at("sizes"))})
      .box();
}

StoredPiece piece_from(const Read& json, const StoredTensor& tensor) {
  expect_fields(json, "a piece",
                {"file", "box", "begin", "count", "offset", "checksums", "stored"});
  StoredPiece piece{.file = json.at("file").get<std::string>(),
                    .offset = whole_number<std::uint64_t>(json.at("offset"))};
  if (json.contains("box")) piece.box = box_from(json["box"], tensor.view);
  if (json.contains("begin") || json.contains("count")) {
    piece.begin = whole_number<std::int64_t>(json.at("begin"));
    piece.count = whole_number<std::int64_t>(json.at("count"));
  } else {
    piece.count = tensor.count_in_box(piece);
  }
  for (const Read& checksum : list_at(json, "checksums")) {
    piece.checksums.push_back(value_of(checksum.get<std::string>()));
  }
  if (json.contains("stored")) piece.stored = whole_numbers<std::uint64_t>(json["stored"]);
  return piece;
}

mesh::View view_from(const Read& json) {
  constexpr std::size_t kDimMax = 64;  // tensors have no more
  mesh::View view(whole_numbers<std::int64_t>(json.at("sizes")));
  if (json.contains("view")) {
    if (!json["view"].is_array()) throw Error(ErrorCode::Corrupt, "its view is no list");
    std::vector<std::vector<std::int64_t>> factors;
    for (const Read& own : json["view"]) factors.push_back(whole_numbers<std::int64_t>(own));
    const mesh::View split = mesh::View::split(factors);
    if (split.tensor_sizes() != view.tensor_sizes()) {
      throw Error(ErrorCode::Corrupt, "a view of " + mesh::text_of(split.tensor_sizes()) +
                                          " of a tensor of " + mesh::text_of(view.tensor_sizes()));
    }
    view = split;
  }
  if (view.sizes().size() > kDimMax) {
    throw Error(ErrorCode::Corrupt, std::to_string(view.sizes().size()) + " dimensions");
  }
  return view;
}

StoredTensor tensor_from(const Read& json) {
  expect_fields(json, "a tensor", {"name", "dtype", "sizes", "view", "pieces"});
  StoredTensor tensor{.name = json.at("name").get<std::string>()};
  const auto dtype = dtype_named(json.at("dtype").get<std::string>());
  if (!dtype) throw Error(ErrorCode::Corrupt, "elements of type " + json.at("dtype").dump());
  tensor.dtype = *dtype;
  try {
    tensor.view = view_from(json);
    for (const Read& piece : list_at(json, "pieces"))
      tensor.pieces.push_back(piece_from(piece, tensor));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::Unsupported) throw;
    throw Error(ErrorCode::Corrupt, "tensor " + tensor.name + ": " + error.message());
  }
  return tensor;
}

Manifest manifest_from(const Read& json) {
  expect_fields(json, "a manifest",
                {"format", "version", "step", "score", "id", "meta", "files", "tensors"});
  Manifest manifest{.step = whole_number<std::int64_t>(json.at("step")),
                    .meta = json.at("meta").dump()};
  if (!json.at("meta").is_object()) throw Error(ErrorCode::Corrupt, "its meta is no JSON object");
  if (!json.at("score").is_null()) manifest.score = json.at("score").get<double>();
  manifest.id = json.value("id", "");
  for (const Read& file : list_at(json, "files")) manifest.files.push_back(file_from(file));
  for (const Read& tensor : list_at(json, "tensors"))
    manifest.tensors.push_back(tensor_from(tensor));
  return manifest;
}

void expect_known_version(const Read& json, const std::string& file) {
  const int version = whole_number<int>(json.at("version"));
  if (version == kManifestVersion) return;
  throw Error(ErrorCode::Unsupported, file + " is of version " + std::to_string(version) +
                                          ", and this build reads version " +
                                          std::to_string(kManifestVersion) +
                                          ": use the build of Trireme that wrote it");
}

// A manifest text, split into its content and its signature.
struct Proven {
  std::string_view body;             // JSON without its last bracket
  std::string_view signed_text;      // all text that the signature covers
  std::string_view key_id{}, mac{};  // empty if it is not signed
};

// Removes the last field from `rest` and returns its value; returns nullopt if the last field has
// another name.
std::optional<std::string_view> take_field(std::string_view& rest, std::string_view field,
                                           std::size_t size) {
  const std::size_t whole = field.size() + size + 1;
  if (rest.size() < whole || rest.back() != '"') return std::nullopt;
  const std::string_view tail = rest.substr(rest.size() - whole);
  if (!tail.starts_with(field)) return std::nullopt;
  rest.remove_suffix(whole);
  return tail.substr(field.size(), size);
}

Proven proven_by_checksum(std::string_view text, const std::string& file) {
  if (!text.ends_with(kEnd)) corrupt(file, "it does not end as a manifest does");
  std::string_view rest = text.substr(0, text.size() - kEnd.size());
  Proven proven;
  if (const auto mac = take_field(rest, kMacField, kMacSize)) {
    proven.mac = *mac;
    proven.signed_text = rest;
    const auto key = take_field(rest, kKeyField, kKeySize);
    if (!key) corrupt(file, "it is signed and names no key");
    proven.key_id = *key;
  }
  const auto checksum = take_field(rest, kChecksumField, kChecksumSize);
  if (!checksum) corrupt(file, "its last line is not a checksum");
  if (*checksum != hex_of(xxh64(bytes_of(rest)))) corrupt(file, "its checksum does not match");
  proven.body = rest;
  return proven;
}

std::string_view purpose_of(Coverage coverage) {
  return coverage == Coverage::Whole ? "manifest" : "record";
}

// Must be called before any content of the text is used.
void expect_signature(const Proven& proven, const ReadOptions& options, Coverage coverage,
                      const std::string& file) {
  if (!options.key) return;
  const std::string own = key_id(*options.key);
  if (proven.mac.empty()) {
    if (options.is_unauthenticated_allowed) return;
    throw Error(ErrorCode::InvalidInput,
                file + " is not signed, and the key " + own +
                    " is given: anybody could have written it. If you trust it, add "
                    "checkpoint.allow_unauthenticated=true to the command line, or "
                    "--allow-unauthenticated to that of `trireme checkpoint`");
  }
  if (proven.key_id != own) {
    throw Error(ErrorCode::InvalidInput, file + " is signed with the key " +
                                             std::string(proven.key_id) +
                                             ", and the one given is " + own);
  }
  if (!is_signed(*options.key, purpose_of(coverage), proven.signed_text, proven.mac)) {
    corrupt(file, "it was not written by a holder of the key " + own);
  }
}

}  // namespace

std::string manifest_text(const Manifest& manifest, const std::optional<net::Secret>& key,
                          Coverage coverage) {
  const Read meta = parse_json<Read>(manifest.meta);
  TRIREME_CHECK(meta.is_object() && !is_nested_deeper(manifest.meta, kJsonDepthMax - 1),
                "a checkpoint's meta is a JSON object, not: ", manifest.meta);
  // One line per top-level field and one line per tensor, so that people can read it.
  std::string text = "{\"format\":\"" + std::string(kFormatName) +
                     "\",\n\"version\":" + std::to_string(kManifestVersion) +
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
    text += std::string(comma) + "\n" + json_of(tensor).dump();
    comma = ",";
  }
  text += "]";
  text += std::string(kChecksumField) + hex_of(xxh64(bytes_of(text))) + "\"";
  if (key) {
    text += std::string(kKeyField) + key_id(*key) + "\"";
    const std::string mac = signature(*key, purpose_of(coverage), text);
    text += std::string(kMacField) + mac + "\"";
  }
  return text + std::string(kEnd);
}

Manifest parse_manifest(std::string_view text, const std::string& file, const ReadOptions& options,
                        Coverage coverage) {
  const Proven proven = proven_by_checksum(text, file);
  expect_signature(proven, options, coverage, file);
  const Read json = parse_json<Read>(std::string(proven.body) + "}");
  if (!json.is_object() || json.value("format", Read()) != kFormatName) {
    corrupt(file, "it is no manifest of a checkpoint");
  }
  Manifest manifest;
  try {
    expect_known_version(json, file);
    manifest = manifest_from(json);
  } catch (const nlohmann::json::exception& error) {
    corrupt(file, json_reason(error.what()));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Corrupt) throw;
    corrupt(file, error.message());
  }
  for (const StoredFile& part : manifest.files) {
    if (part.key_id == proven.key_id) continue;
    corrupt(file, part.key_id.empty()
                      ? part.name + " is not encrypted with the key of the manifest"
                      : part.name + " is encrypted, and the manifest is not signed with its key");
  }
  if (const std::string fault = fault_in(manifest, coverage); !fault.empty()) corrupt(file, fault);
  return manifest;
}

}  // namespace trireme::checkpoint::format
