#include "trireme/cli/checkpoint/rewrite.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "trireme/base/error.h"
#include "trireme/checkpoint/format/diff.h"
#include "trireme/checkpoint/format/reshard.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;
namespace format = checkpoint::format;
using Json = nlohmann::ordered_json;

constexpr int kPartsMax = 100'000;

int parts_in(const std::string& text, const format::Manifest& manifest) {
  if (text.empty()) return std::max(1, static_cast<int>(manifest.files.size()));
  int parts = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, parts);
  if (read.ec != std::errc() || read.ptr != end || parts < 1 || parts > kPartsMax) {
    throw Error(ErrorCode::InvalidInput,
                "--parts is a number from 1 to " + std::to_string(kPartsMax) + ", not " + text);
  }
  return parts;
}

// Keeps the checkpoint's sealing except for the options that the user gave.
format::Sealing sealing_of(const ReshardWords& words, const format::Manifest& manifest,
                           const std::optional<net::Secret>& key) {
  if ((words.is_decrypted && !words.new_key.empty()) ||
      (words.is_compressed && words.is_expanded)) {
    throw Error(ErrorCode::InvalidInput,
                "take one of --encrypt and --decrypt, and one of --compress and --expand");
  }
  format::Sealing sealing{.is_compressed = words.is_compressed};
  for (const format::StoredFile& file : manifest.files) {
    if (file.is_compressed && !words.is_expanded) sealing.is_compressed = true;
    if (!file.key_id.empty() && !words.is_decrypted) sealing.key = key;
  }
  if (!words.new_key.empty()) sealing.key = net::Secret::from_file(words.new_key);
  return sealing;
}

Json json_of(const format::Difference& one) {
  if (!one.what.empty()) return {{"name", one.name}, {"what", one.what}};
  return {{"name", one.name},
          {"count", one.count},
          {"largest", std::isnan(one.largest) ? Json() : Json(one.largest)},
          {"at", one.largest_index}};
}

}  // namespace

void warn_if_unsigned(const format::Reader& reader) {
  const std::string note = reader.note_if_unsigned();
  if (!note.empty()) std::fprintf(stderr, "trireme: %s\n", note.c_str());
}

int reshard_checkpoint(const fs::path& path, const ReshardWords& words,
                       const format::ReadOptions& reading) {
  const format::Reader from(path, reading);
  warn_if_unsigned(from);
  const fs::path beside = fs::absolute(path).lexically_normal();
  const fs::path own = (beside.has_filename() ? beside : beside.parent_path()).parent_path();
  if (!words.to.empty() && fs::exists(fs::path(words.to) / path.filename())) {
    throw Error(ErrorCode::InvalidInput,
                (fs::path(words.to) / path.filename()).string() + " exists already");
  }
  const fs::path made =
      format::reshard(from, {.folder = words.to.empty() ? own : fs::path(words.to),
                             .parts = parts_in(words.parts, from.manifest()),
                             .sealing = sealing_of(words, from.manifest(), reading.key)});
  const format::Manifest written = format::Reader(made).manifest();
  std::uint64_t size = 0;
  for (const format::StoredFile& file : written.files) size += file.size;
  std::printf("%s: step %lld in %zu parts, %llu bytes\n", made.c_str(),
              static_cast<long long>(written.step), written.files.size(),
              static_cast<unsigned long long>(size));
  return 0;
}

int diff_checkpoints(const fs::path& a, const fs::path& b, const format::ReadOptions& reading,
                     bool is_json) {
  const format::Reader left(a, reading), right(b, reading);
  warn_if_unsigned(left);
  warn_if_unsigned(right);
  const std::vector<format::Difference> all = format::differences(left, right);
  if (is_json) {
    Json lines = Json::array();
    for (const format::Difference& one : all) lines.push_back(json_of(one));
    std::puts(lines.dump(2).c_str());
    return all.empty() ? 0 : 1;
  }
  for (const format::Difference& one : all) {
    if (one.what.empty()) {
      std::printf("%s %s: %lld elements differ, by %.6g at most, at element %lld\n",
                  one.name.c_str(), format::form_text(left.tensor(one.name)).c_str(),
                  static_cast<long long>(one.count), one.largest,
                  static_cast<long long>(one.largest_index));
    } else {
      std::printf("%s: %s\n", one.name.c_str(), one.what.c_str());
    }
  }
  std::printf("%zu of %zu tensors differ\n", all.size(), left.manifest().tensors.size());
  return all.empty() ? 0 : 1;
}

}  // namespace trireme::cli
