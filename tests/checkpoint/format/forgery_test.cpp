// Goal:   with a key, only data is read that a holder of the key wrote at that position, and each
//         way to forge, truncate, exchange or strip a checkpoint has its own error.
// Method: edits small signed checkpoints like an attacker with write access to the folder,
//         knowledge of the format and no key: every checksum is made to match.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/base/hash/xxh64.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/format/manifest_text.h"
#include "trireme/checkpoint/format/reader.h"
#include "trireme/checkpoint/format/record.h"
#include "trireme/checkpoint/format/shelf.h"
#include "trireme/checkpoint/format/verify.h"

namespace trireme::checkpoint::format {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CheckpointForgery : public ::testing::Test {
 protected:
  // Tensors "a" and "b" of 8 bytes each, in one part.
  fs::path store(const std::string& folder, std::int64_t step, const Sealing& sealing,
                 std::byte value = std::byte{1}) const {
    fs::create_directories(folder_.path() / folder);
    const fs::path draft = make_draft(folder_.path() / folder, step, "test");
    const Bytes bytes(8, value);
    Manifest manifest{.step = step, .score = 0.5, .meta = R"({"lr":1})", .id = "attempt-" + folder};
    add_part(manifest, write_part(draft / part_name(0, sealing.is_plain()),
                                  PartLayout({{.name = "a", .shard = {{2}}, .count = 2},
                                              {.name = "b", .shard = {{2}}, .count = 2}}),
                                  {bytes, bytes}, {.sealing = sealing, .id = manifest.id}));
    settle(manifest);
    publish(FolderLock(folder_.path() / folder), draft, manifest, {.key = sealing.key});
    return folder_.path() / folder / folder_name(step);
  }

  void read_all(const fs::path& path, const ReadOptions& options) const {
    const Reader reader(path, options);
    for (const StoredTensor& tensor : reader.manifest().tensors) {
      Bytes bytes(tensor.size());
      reader.read(tensor, 0, tensor.count(), bytes.data());
    }
  }

  void expect_error(const std::function<void()>& act, ErrorCode code,
                    const std::string& what) const {
    try {
      act();
      ADD_FAILURE() << "nothing was thrown where this was expected: " << what;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_THAT(error.message(), HasSubstr(what));
    }
  }
  void expect_unreadable(const fs::path& path, ErrorCode code, const std::string& what) const {
    expect_error([&] { read_all(path, {.key = key_}); }, code, what);
  }

  // The text with another last line: a matching checksum and the existing signature.
  static std::string resealed(std::string text, const std::string& from, const std::string& to) {
    const std::string field = ",\n\"checksum\":\"";
    const std::size_t begin = text.rfind(field);
    const std::string rest = text.substr(begin + field.size() + 16);
    std::string body = text.substr(0, begin);
    const std::size_t at = body.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    body.replace(at, from.size(), to);
    const std::uint64_t checksum = xxh64(bytes_of(body));
    std::string digits = to_hex(std::as_bytes(std::span(&checksum, 1)));
    std::string reversed;
    for (std::size_t i = digits.size(); i > 0; i -= 2) reversed += digits.substr(i - 2, 2);
    return body + field + reversed + rest;
  }
  static void edit(const fs::path& path, const std::string& from, const std::string& to) {
    const fs::path file = path / kManifestName;
    write_file_atomically(file, resealed(read_file(file), from, to));
  }

  const TemporaryFolder folder_{"forgery"};
  const net::Secret key_ = net::Secret::generate();
  const std::string part_ = "part-00000.sealed";
};

TEST_F(CheckpointForgery, AnEditedManifestIsRefused) {
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"\"step\":7", "\"step\":8"},
                                                        {"0.5", "0.1"},
                                                        {"{\"lr\":1}", "{\"lr\":9}"},
                                                        {"\"dtype\":\"F32\"", "\"dtype\":\"I32\""},
                                                        {"\"sizes\":[2]", "\"sizes\":[1,2]"},
                                                        {"\"name\":\"a\"", "\"name\":\"A\""}}) {
    const fs::path path = store("edited", 7, {.key = key_});
    read_all(path, {.key = key_});
    edit(path, from, to);
    expect_unreadable(path, ErrorCode::Corrupt, "was not written by a holder of the key");
    EXPECT_THAT(damage_in(path, {.key = key_}), SizeIs(1)) << to;
  }
  // A job falls back to a checkpoint that its key has signed.
  const fs::path older = store("edited", 6, {.key = key_});
  const Newest newest = find_newest_whole(folder_.path() / "edited", {.key = key_});
  EXPECT_EQ(newest.path, older);
  EXPECT_THAT(newest.skipped, SizeIs(1));
}

TEST_F(CheckpointForgery, AWrongKeyAndAMissingKeyAreReported) {
  const fs::path path = store("keys", 7, {.key = key_});
  const net::Secret other = net::Secret::generate();
  expect_error([&] { read_all(path, {.key = other}); }, ErrorCode::InvalidInput,
               "the one given is " + key_id(other));
  expect_error([&] { read_all(path, {.key = other, .is_unauthenticated_allowed = true}); },
               ErrorCode::InvalidInput, "the one given is " + key_id(other));
  expect_error([&] { read_all(path, {}); }, ErrorCode::InvalidInput,
               "is encrypted with the key " + key_id(key_));
  EXPECT_THAT(damage_in(path), IsEmpty());  // detecting damage requires no key
  EXPECT_TRUE(Reader(path, {.key = key_}).is_authenticated());
  EXPECT_FALSE(Reader(path).is_authenticated());
}

TEST_F(CheckpointForgery, APlainCheckpointIsRefusedUnlessItIsAllowed) {
  const fs::path path = store("plain", 7, {});
  expect_unreadable(path, ErrorCode::InvalidInput, "checkpoint.allow_unauthenticated");
  const ReadOptions allowed{.key = key_, .is_unauthenticated_allowed = true};
  read_all(path, allowed);
  EXPECT_FALSE(Reader(path, allowed).is_authenticated());
  // A job does not accept it as its newest checkpoint either.
  store("plain", 6, {.key = key_});
  expect_error([&] { find_newest_whole(folder_.path() / "plain", {.key = key_}); },
               ErrorCode::InvalidInput, "is not signed");
}

TEST_F(CheckpointForgery, APlainPartUnderASignedManifestIsRefused) {
  const fs::path path = store("mixed", 7, {.key = key_}), plain = store("clear", 7, {});
  // This holds even if the signature is valid.
  const Manifest manifest = Reader(plain).manifest();
  write_file_atomically(path / kManifestName, manifest_text(manifest, key_));
  fs::copy(plain / "part-00000.safetensors", path);
  expect_unreadable(path, ErrorCode::Corrupt, "is not encrypted with the key of the manifest");
}

TEST_F(CheckpointForgery, AStrippedSignatureIsDetectedWithAndWithoutTheKey) {
  const fs::path path = store("stripped", 7, {.key = key_});
  std::string text = read_file(path / kManifestName);
  text.resize(text.rfind(",\n\"key\":"));
  write_file_atomically(path / kManifestName, text + "}\n");
  expect_unreadable(path, ErrorCode::InvalidInput, "is not signed");
  for (const bool has_key : {false, true}) {
    ReadOptions options{.is_unauthenticated_allowed = true};
    if (has_key) options.key = key_;
    expect_error([&] { read_all(path, options); }, ErrorCode::Corrupt,
                 "the manifest is not signed with its key");
  }
}

TEST_F(CheckpointForgery, ExchangedPartsAreRefusedWithAndWithoutValidChecksums) {
  const fs::path a = store("one", 7, {.key = key_}), b = store("two", 7, {.key = key_});
  const std::string signed_text = read_file(a / kManifestName);
  fs::copy_file(b / part_, a / part_, fs::copy_options::overwrite_existing);
  expect_unreadable(a, ErrorCode::Corrupt, "do not match their checksum");
  // Uses the other manifest's checksums and salt, which only a holder of the key can sign.
  Manifest mixed = Reader(a).manifest();
  const Manifest other = Reader(b).manifest();
  mixed.files = other.files;
  mixed.tensors = other.tensors;
  write_file_atomically(a / kManifestName, manifest_text(mixed));
  expect_unreadable(a, ErrorCode::InvalidInput, "is not signed");
  write_file_atomically(a / kManifestName, manifest_text(mixed, key_));
  expect_unreadable(a, ErrorCode::Corrupt, "was not written there by a holder of its key");
  // The unchanged manifest of the other checkpoint has its own id and is valid here: together they
  // are the complete other checkpoint.
  fs::copy_file(b / kManifestName, a / kManifestName, fs::copy_options::overwrite_existing);
  read_all(a, {.key = key_});
}

TEST_F(CheckpointForgery, APieceCannotReplaceAnother) {
  const fs::path path = store("replay", 7, {.key = key_});
  Manifest manifest = Reader(path).manifest();
  std::swap(manifest.tensors[0].pieces, manifest.tensors[1].pieces);
  write_file_atomically(path / kManifestName, manifest_text(manifest, key_));
  expect_unreadable(path, ErrorCode::Corrupt, "was not written there by a holder of its key");
}

TEST_F(CheckpointForgery, TruncatedDataIsRefused) {
  const fs::path path = store("cut", 7, {.key = key_});
  const Manifest manifest = Reader(path).manifest();
  const std::uint64_t size = manifest.files[0].size;
  fs::resize_file(path / part_, size - 24);
  expect_unreadable(path, ErrorCode::Corrupt, "was written with " + std::to_string(size));
  edit(path, "\"size\":" + std::to_string(size), "\"size\":" + std::to_string(size - 24));
  expect_unreadable(path, ErrorCode::Corrupt, "was not written by a holder of the key");
}

TEST_F(CheckpointForgery, AnOldCheckpointUnderANewNameIsRefused) {
  const fs::path path = store("renamed", 7, {.key = key_});
  const fs::path renamed = path.parent_path() / folder_name(900);
  fs::rename(path, renamed);
  expect_unreadable(renamed, ErrorCode::Corrupt, "holds the checkpoint of step 7");
}

// The rank that signs the manifest thereby signs the contents of the records.
TEST_F(CheckpointForgery, ARecordIsValidOnlyInItsDraft) {
  const fs::path draft = make_draft(folder_.path(), 7, "test");
  const Bytes bytes(8, std::byte{1});
  const WrittenPart part = write_part(draft / part_name(1, false),
                                      PartLayout({{.name = "a", .shard = {{2}}, .count = 2}}),
                                      {bytes}, {.sealing = {.key = key_}, .id = "x-0"});
  write_record(draft, 1, part, {.id = "x-0", .key = key_});
  EXPECT_TRUE(read_record(draft, 1, {.id = "x-0", .key = key_}).has_value());
  const fs::path file = draft / "part-00001.json";
  const std::string text = read_file(file);
  expect_error([&] { parse_manifest(text, "m", {.key = key_}); }, ErrorCode::Corrupt,
               "was not written by a holder of the key");
  write_file_atomically(file, resealed(text, "\"size\":24", "\"size\":99"));
  expect_error([&] { read_record(draft, 1, {.id = "x-0", .key = key_}); }, ErrorCode::Corrupt,
               "was not written by a holder of the key");
  WrittenPart plain = part;
  plain.file.key_id.clear();
  write_record(draft, 1, plain, {.id = "x-0"});
  expect_error([&] { read_record(draft, 1, {.id = "x-0", .key = key_}); }, ErrorCode::InvalidInput,
               "is not signed");
}

// A forged score does not displace a checkpoint that is kept for its own score.
TEST_F(CheckpointForgery, UnsignedCheckpointsAreNeitherCountedNorRemoved) {
  const fs::path own = store("kept", 1, {.key = key_}), forged = store("kept", 2, {});
  const fs::path folder = folder_.path() / "kept";
  {
    Shelf shelf({.folder = folder,
                 .retention = {.keep_last = 1, .keep_best = 1},
                 .key = key_,
                 .reading = {.key = key_}});
    shelf.remove_after(1);
  }
  EXPECT_TRUE(fs::exists(own));
  EXPECT_TRUE(fs::exists(forged));
}

TEST_F(CheckpointForgery, OtherVersionsAndUnknownFieldsAreUnsupported) {
  const fs::path path = store("versions", 7, {});
  const auto expect_unsupported = [&](const std::string& from, const std::string& to,
                                      const std::string& what) {
    const std::string text = read_file(path / kManifestName);
    expect_error([&] { parse_manifest(resealed(text, from, to), "m"); }, ErrorCode::Unsupported,
                 what);
  };
  expect_unsupported("\"version\":4", "\"version\":3", "m is of version 3, and this build reads");
  expect_unsupported("\"version\":4", "\"version\":5", "m is of version 5");
  expect_unsupported("\"offset\"", "\"stride\":[2],\"offset\"",
                     "the field 'stride' of a piece needs a newer version");
  expect_unsupported("\"offset\"",
                     "\"box\":{\"begin\":[0],\"sizes\":[2],\"stride\":[1]},\"offset\"",
                     "the field 'stride' of a box");
  expect_unsupported("\"dtype\"", "\"layout\":1,\"dtype\"", "the field 'layout' of a tensor");
}

}  // namespace
}  // namespace trireme::checkpoint::format
