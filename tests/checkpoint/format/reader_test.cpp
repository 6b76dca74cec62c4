// Goal:   any range of a tensor has the same content, however the tensor is divided into pieces,
//         and damage is reported with its position.
// Method: one tensor in two parts; ranges around every boundary; then truncated files and flipped
//         bits.

#include "trireme/checkpoint/format/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "tests/checkpoint/format/stored_bytes.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/base/hash/xxh64.h"
#include "trireme/checkpoint/format/diff.h"
#include "trireme/checkpoint/format/manifest_text.h"
#include "trireme/checkpoint/format/part.h"
#include "trireme/checkpoint/format/verify.h"

namespace trireme::checkpoint::format {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void flip(const fs::path& path, std::int64_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const char was = static_cast<char>(file.get());
  file.seekp(at);
  file.put(static_cast<char>(was ^ 4));
}

TEST(StoredReader, ReadsRangesAcrossPiecesAndChunks) {
  const TemporaryFolder folder("reader");
  const Reader reader(store_bytes(folder.path(), 7));
  const Bytes a = bytes_a();
  const StoredTensor& tensor = reader.tensor("a");
  const std::int64_t chunk = kChunkSize;
  const std::vector<std::int64_t> bounds{0,     1,         chunk - 1,     chunk,       kCutA - 1,
                                         kCutA, kCutA + 1, kCutA + chunk, kCountA - 1, kCountA};
  for (const std::int64_t begin : bounds) {
    for (const std::int64_t end : bounds) {
      if (end < begin) continue;
      Bytes out(static_cast<std::size_t>(end - begin) + 1, std::byte{0xEE});
      reader.read(tensor, begin, end - begin, out.data());
      EXPECT_TRUE(std::equal(out.begin(), out.end() - 1, a.begin() + begin)) << begin << " " << end;
      EXPECT_EQ(out.back(), std::byte{0xEE});
    }
  }
  EXPECT_THROW(reader.read(tensor, 0, kCountA + 1, nullptr), Error);
  EXPECT_THROW(reader.tensor("c"), Error);
  EXPECT_THAT(damage_in(reader.folder()), IsEmpty());
}

TEST(StoredReader, AFlippedBitIsReportedWithFileTensorAndByte) {
  const TemporaryFolder folder("reader");
  const fs::path path = store_bytes(folder.path(), 7);
  const Manifest manifest = Reader(path).manifest();
  const StoredPiece& piece = manifest.find("a")->pieces[1];
  const auto hurt = static_cast<std::int64_t>(piece.offset + kChunkSize + 5);
  flip(path / piece.file, hurt);
  const std::string place = "bytes " + std::to_string(piece.offset + kChunkSize);
  EXPECT_THAT(damage_in(path), ElementsAre(AllOf(HasSubstr("part-00001.safetensors, tensor a: "),
                                                 HasSubstr(place))));
  // Other chunks can still be read.
  const Reader reader(path);
  Bytes out(kChunkSize);
  reader.read(reader.tensor("a"), 0, kChunkSize, out.data());
  EXPECT_THROW(reader.read(reader.tensor("a"), kCountA - 1, 1, out.data()), Error);
}

TEST(StoredReader, TruncatedAndMissingFilesAreReported) {
  const TemporaryFolder folder("reader");
  const fs::path path = store_bytes(folder.path(), 7);
  fs::resize_file(path / "part-00000.safetensors", 1000);
  EXPECT_THAT(damage_in(path), ElementsAre(HasSubstr("part-00000.safetensors has 1000 bytes")));
  fs::remove(path / "part-00000.safetensors");
  EXPECT_THAT(damage_in(path), ElementsAre(HasSubstr("part-00000.safetensors is missing")));
  fs::remove(path / kManifestName);
  EXPECT_THAT(damage_in(path), ElementsAre(HasSubstr("manifest.json does not exist")));
}

// Sizes that exceed the memory into which they are read, with a matching checksum.
TEST(StoredReader, EveryReaderRefusesACraftedCheckpoint) {
  const TemporaryFolder folder("reader");
  const fs::path whole = store_bytes(folder.path(), 7), crafted = store_bytes(folder.path(), 8);
  Manifest manifest = Reader(crafted).manifest();
  StoredPiece& piece = manifest.tensors[1].pieces[0];
  const std::string part = read_file(crafted / piece.file);
  piece.offset = 0;
  piece.stored = {1'000'000};
  piece.checksums = {xxh64(bytes_of(part).first(1'000'000))};
  write_file_atomically(crafted / kManifestName, manifest_text(manifest));
  EXPECT_THAT(damage_in(crafted), ElementsAre(HasSubstr("manifest.json is damaged: tensor b")));
  try {
    differences(Reader(whole), Reader(crafted));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Corrupt);
  }
  EXPECT_EQ(find_newest_whole(folder.path()).path, whole);
}

// Without free descriptors nothing is known about a checkpoint, so it must not be reported as
// damaged.
TEST(StoredReader, ErrorsOfTheSystemAreThrownAndNotReportedAsDamage) {
  const TemporaryFolder folder("reader");
  const fs::path path = store_bytes(folder.path(), 7);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  std::string said = "nothing";
  try {
    find_newest_whole(path.parent_path());
  } catch (const Error& error) {
    said = name_of(error.code());
  }
  std::string about = "nothing";
  try {
    damage_in(path);
  } catch (const Error& error) {
    about = name_of(error.code());
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(said, "Exhausted");
  EXPECT_EQ(about, "Exhausted");
  EXPECT_FALSE(is_damage(Error(ErrorCode::Unsupported, "of a later version")));
  EXPECT_TRUE(is_damage(Error(ErrorCode::Corrupt, "a flipped bit")));
}

TEST(StoredReader, FindsTheNewestCompleteCheckpointAndNamesSkippedOnes) {
  const TemporaryFolder folder("reader");
  EXPECT_EQ(find_newest_whole(folder.path()).path, std::nullopt);
  const fs::path first = store_bytes(folder.path(), 9);
  const fs::path second = store_bytes(folder.path(), 10);
  const fs::path third = store_bytes(folder.path(), 100);
  flip(second / "part-00001.safetensors", 5000);
  fs::remove(third / kManifestName);
  const Newest newest = find_newest_whole(folder.path());
  EXPECT_EQ(newest.path, first);
  ASSERT_EQ(newest.skipped.size(), 2u);
  EXPECT_EQ(newest.skipped[0].path, third);
  EXPECT_THAT(newest.skipped[1].reason, HasSubstr("tensor a"));
}

// As a checkpoint that a running job removes after it was listed: its name is there, and no folder.
TEST(StoredReader, ACheckpointRemovedDuringReadingIsAbsent) {
  const TemporaryFolder folder("reader");
  const fs::path whole = store_bytes(folder.path(), 9);
  fs::create_directory_symlink(folder.path() / "removed", folder.path() / folder_name(10));
  const Newest newest = find_newest_whole(folder.path());
  EXPECT_EQ(newest.path, whole);
  EXPECT_TRUE(newest.skipped.empty());
}

}  // namespace
}  // namespace trireme::checkpoint::format
