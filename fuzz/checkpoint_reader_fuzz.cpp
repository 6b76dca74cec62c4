// Goal:   no checkpoint (manifest, meta and parts) crashes the code that reads it: verify, read,
//         diff, reshard; the progress in an accepted meta is one that a job can reach. A checkpoint
//         that verify accepts can be read without an error, and a shard of a tensor has the
//         elements of the whole. Data that is read with the key, and was not signed again by its
//         holder, is the data that the holder wrote.
// Method: the input edits the manifests and parts of small checkpoints (plain, compressed,
//         encrypted). Checksums are recomputed, since the checkpoint would be rejected otherwise;
//         in half of the runs the signature is recomputed too.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/base/hash/xxh64.h"
#include "trireme/checkpoint/format/diff.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/format/manifest_text.h"
#include "trireme/checkpoint/format/part.h"
#include "trireme/checkpoint/format/reader.h"
#include "trireme/checkpoint/format/record.h"
#include "trireme/checkpoint/format/reshard.h"
#include "trireme/checkpoint/format/verify.h"
#include "trireme/train/report/progress.h"

using namespace trireme;
using namespace trireme::checkpoint::format;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// The bytes of the input in order; zeros after its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool is_empty() const { return size_ == 0; }
  std::uint64_t get(int bytes) {
    std::uint64_t value = 0;
    for (; bytes > 0 && size_ > 0; --bytes, --size_) value = value << 8 | *data_++;
    return value;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

struct Stored {
  std::string text;  // of the manifest, as it was written
  Json manifest;
  std::map<std::string, std::string> parts;
};

// All counts are above 0, so that an edit can make each of them wrong.
const train::Progress kProgress{.step = 1,
                                .updates = 1,
                                .position = {.epoch = 2, .cursor = 3},
                                .returned = {{.epoch = 2, .samples = {.begin = 1, .end = 2}}},
                                .samples = 4,
                                .best_step = 1};

void check_progress(const std::string& meta, std::int64_t step) {
  const train::Progress read = train::Progress::from_meta(meta, step);
  require(read.step == step && read.updates >= 0 && read.updates <= step);
  require(read.position.epoch >= 0 && read.position.cursor >= 0 && read.best_step <= step);
  for (const data::Returned& part : read.returned) {
    require(part.epoch >= 0 && part.samples.begin >= 0 && part.samples.count() >= 0);
  }
}

std::string checksum_text(std::string_view bytes) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(xxh64(bytes_of(bytes))));
  return text;
}

class Lab {
 public:
  Lab() : folder_("reader-fuzz"), key_(net::Secret::from_hex(std::string(64, '7'))) {
    add({});
    add({.is_compressed = true});
    add({.key = key_});
    add({.is_compressed = true, .key = key_});
  }

  void run(Input input) {
    const std::uint64_t choice = input.get(1);
    Stored stored = originals_[choice % 4];
    const bool is_encrypted = choice % 4 >= 2;
    const bool is_resigned = is_encrypted && (choice & 8) != 0;
    while (!input.is_empty()) edit(stored, input);
    if ((choice & 4) == 0) mend(stored);
    write(stored, is_resigned);
    const ReadOptions reading = is_encrypted ? ReadOptions{.key = key_} : ReadOptions{};
    const bool is_whole = check_damage(reading);
    try {
      read_all(reading, choice / 16 == 15);
      if (is_encrypted && !is_resigned) require_same();
    } catch (const Error& error) {
      require(!is_whole);
      require_expected(error);
    }
  }

 private:
  // A tensor in ranges, an empty one, a whole one, and one in boxes of a view.
  void add(const Sealing& sealing) {
    const fs::path folder = folder_.path() / std::to_string(originals_.size());
    fs::create_directories(folder);
    const fs::path draft = make_draft(folder, 1, "fuzz");
    Bytes bytes(60);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
    const auto first = [&](std::size_t size) { return ByteView(bytes).first(size); };
    const mesh::View view = mesh::View::split({{2, 3}, {4}});
    const mesh::Shard left(view, {{0, 0, 0}, {2, 1, 4}}), right(view, {{0, 1, 0}, {2, 2, 4}});
    Manifest manifest{.step = 1, .meta = kProgress.to_json(), .id = "fuzz"};
    const auto add_to = [&](int part, std::vector<PieceForm> forms,
                            const std::vector<ByteView>& contents) {
      add_part(manifest,
               write_part(draft / part_name(part, sealing.is_plain()), PartLayout(std::move(forms)),
                          contents, {.sealing = sealing, .id = manifest.id, .rank = part}));
    };
    add_to(0,
           {{.name = "a", .shard = {{3, 5}}, .count = 7},
            {.name = "b", .dtype = StoredDType::U8, .shard = {{0}}},
            {.name = "d", .dtype = StoredDType::U8, .shard = left, .count = 8},
            {.name = "d", .dtype = StoredDType::U8, .shard = right, .count = 5}},
           {first(28), {}, first(8), first(5)});
    add_to(1,
           {{.name = "a", .shard = {{3, 5}}, .begin = 7, .count = 8},
            {.name = "c", .dtype = StoredDType::BF16, .shard = {{9}}, .count = 9},
            {.name = "d", .dtype = StoredDType::U8, .shard = right, .begin = 5, .count = 11}},
           {first(32), first(18), first(11)});
    settle(manifest);
    publish(FolderLock(folder), draft, manifest, {.key = sealing.key});
    const fs::path path = folder / folder_name(1);
    Stored& stored = originals_.emplace_back();
    stored.text = read_file(path / kManifestName);
    stored.manifest = Json::parse(stored.text);
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.path().filename() == kManifestName) continue;
      stored.parts[entry.path().filename().string()] = read_file(entry.path());
    }
    edited_ = folder_.path() / "edited" / folder_name(1);
    fs::create_directories(edited_);
  }

  void edit(Stored& stored, Input& input) {
    const std::uint64_t what = input.get(1);
    auto part = stored.parts.begin();
    if (what % 2 == 1) ++part;
    switch (what / 2 % 4) {
      case 0:
        part->second[input.get(2) % part->second.size()] = static_cast<char>(input.get(1));
        break;
      case 1:
        part->second.resize(1 + input.get(2) % 9000);
        break;
      case 2:
        edit_piece(stored.manifest, input);
        break;
      default: {
        std::uint64_t left = input.get(1);
        edit_leaf(stored.manifest, left, input);
      }
    }
  }

  // Sets the stored sizes or the box of a piece, duplicates it, or sets the view of its tensor, if
  // other edits left one.
  static void edit_piece(Json& manifest, Input& input) {
    Json& tensors = manifest["tensors"];
    if (!tensors.is_array() || tensors.empty()) return;
    Json& tensor = tensors[input.get(1) % tensors.size()];
    if (!tensor.is_object() || !tensor["pieces"].is_array() || tensor["pieces"].empty()) return;
    Json& pieces = tensor["pieces"];
    const std::uint64_t what = input.get(1);
    Json& piece = pieces[what / 8 % pieces.size()];
    if (!piece.is_object()) return;
    const auto numbers = [&](std::uint64_t end) {
      Json list = Json::array();
      for (std::uint64_t count = input.get(1) % end; count > 0; --count) {
        list.push_back(input.get(1) % 8);
      }
      return list;
    };
    switch (what % 4) {
      case 0:
        piece["stored"] = Json::array({input.get(2)});
        piece["offset"] = input.get(1);
        break;
      case 1:
        pieces.push_back(Json(piece));
        break;
      case 2:
        piece["box"] = {{"begin", numbers(5)}, {"sizes", numbers(5)}};
        if (what / 4 % 2 == 1) {
          piece.erase("begin");
          piece.erase("count");
        }
        break;
      default:
        tensor["view"] = Json::array({numbers(4), numbers(4)});
    }
  }

  // Changes the value of leaf `left` of the JSON, counted from its beginning.
  static bool edit_leaf(Json& json, std::uint64_t& left, Input& input) {
    if (json.is_structured() && !json.empty()) {
      for (Json& inner : json) {
        if (edit_leaf(inner, left, input)) return true;
      }
      return false;
    }
    if (left-- > 0) return false;
    switch (input.get(1) % 8) {
      case 0:
        json = Json::array();
        break;
      case 1:
        json = std::string(input.get(1), 'a');
        break;
      case 2:
        json = nullptr;
        break;
      case 3:
        json = input.get(8);
        break;
      case 4:
        json = -static_cast<std::int64_t>(input.get(2));
        break;
      case 5:
        json = input.get(3);
        break;
      default:
        json = input.get(1);
    }
    return true;
  }

  // Recomputes the checksums of chunks that are within their files.
  static void mend(Stored& stored) {
    try {
      for (Json& tensor : stored.manifest.at("tensors")) {
        const auto dtype = dtype_named(tensor.at("dtype").get<std::string>());
        std::uint64_t whole = 1;
        for (const Json& size : tensor.at("sizes")) whole *= size.get<std::uint64_t>();
        for (Json& piece : tensor.at("pieces")) {
          std::uint64_t held = piece.contains("box") ? 1 : whole;
          for (const Json& size :
               piece.contains("box") ? piece["box"].at("sizes") : Json::array()) {
            held *= size.get<std::uint64_t>();
          }
          const std::string& bytes = stored.parts.at(piece.at("file").get<std::string>());
          const auto offset = piece.at("offset").get<std::uint64_t>();
          const auto size = piece.contains("stored") ? piece["stored"].at(0).get<std::uint64_t>()
                                                     : piece.value("count", held) * size_of(*dtype);
          if (!piece.at("checksums").empty() && offset <= bytes.size()) {
            piece["checksums"][0] = checksum_text(std::string_view(bytes).substr(offset, size));
          }
        }
      }
    } catch (const std::exception&) {
      return;
    }
  }

  void write(const Stored& stored, bool is_resigned) const {
    // Removes the files first: some file systems flush a file to disk immediately if it is
    // truncated and rewritten.
    for (const auto& entry : fs::directory_iterator(edited_)) fs::remove(entry.path());
    for (const auto& [name, bytes] : stored.parts) std::ofstream(edited_ / name) << bytes;
    if (stored.manifest == Json::parse(stored.text)) {
      std::ofstream(edited_ / kManifestName) << stored.text;
      return;
    }
    Json body = stored.manifest;
    const auto text_in = [&](const char* field) {
      return body.contains(field) && body[field].is_string() ? body[field].get<std::string>() : "";
    };
    const std::string mac = text_in("mac"), key = text_in("key");
    for (const char* field : {"checksum", "key", "mac"}) body.erase(field);
    std::string text = body.dump();
    text.pop_back();
    text += ",\n\"checksum\":\"" + checksum_text(text) + "\"";
    if (!mac.empty()) {
      text += ",\n\"key\":\"" + (is_resigned ? key_id(key_) : key) + "\"";
      text += ",\"mac\":\"" + (is_resigned ? signature(key_, "manifest", text) : mac) + "\"";
    }
    std::ofstream(edited_ / kManifestName) << text << "}\n";
  }

  void require_same() const {
    const Reader reader(edited_, {.key = key_});
    const Reader plain(folder_.path() / "0" / folder_name(1));
    require(differences(reader, plain).empty());
    require(reader.manifest().meta == plain.manifest().meta);
  }

  static void require_expected(const Error& error) {
    require(error.code() == ErrorCode::Corrupt || error.code() == ErrorCode::Unsupported ||
            error.code() == ErrorCode::InvalidInput);
  }

  bool check_damage(const ReadOptions& reading) const {
    try {
      return damage_in(edited_, reading, check_progress).empty();
    } catch (const Error& error) {
      require_expected(error);
      return false;
    }
  }

  void read_all(const ReadOptions& reading, bool is_resharded) const {
    const Reader reader(edited_, reading);
    check_progress(reader.manifest().meta, reader.manifest().step);
    for (const StoredTensor& tensor : reader.manifest().tensors) {
      Bytes bytes(tensor.size());
      reader.read(tensor, 0, tensor.count(), bytes.data());
      Bytes some(tensor.size());
      reader.read(tensor, tensor.count() / 2, tensor.count() - tensor.count() / 2, some.data());
      mesh::Box box = mesh::Box::whole(tensor.view.sizes());
      for (std::int64_t& size : box.sizes) size -= size / 2;
      read_shard(reader, tensor, mesh::Shard(tensor.view, box), bytes);
    }
    differences(reader, Reader(folder_.path() / "0" / folder_name(1)));
    if (!is_resharded) return;
    const fs::path other = folder_.path() / "other";
    reshard(reader, {.folder = other, .parts = 3});
    fs::remove_all(other);
  }

  static void read_shard(const Reader& reader, const StoredTensor& tensor, const mesh::Shard& shard,
                         const Bytes& whole) {
    const std::size_t element = size_of(tensor.dtype);
    const mesh::ShardRange wanted{.shard = shard, .begin = 0, .count = shard.count()};
    Bytes out(static_cast<std::size_t>(wanted.count) * element);
    reader.read(tensor, wanted, out.data());
    std::int64_t seen = 0;
    mesh::for_each_common(
        wanted, {.shard = tensor.sizes(), .begin = 0, .count = tensor.count()},
        [&](const mesh::CommonRange& common) {
          require(common.a == seen);
          seen += common.count;
          require(std::memcmp(out.data() + static_cast<std::size_t>(common.a) * element,
                              whole.data() + static_cast<std::size_t>(common.b) * element,
                              static_cast<std::size_t>(common.count) * element) == 0);
        });
    require(seen == shard.count());
  }

  TemporaryFolder folder_;
  net::Secret key_;
  std::vector<Stored> originals_;
  fs::path edited_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Lab lab;
  lab.run(Input(data, std::min<std::size_t>(size, 200)));
  return 0;
}
