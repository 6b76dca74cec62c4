// Goal:   any shard of a tensor, in any layout, has the same content whichever layout wrote it,
//         plain and sealed; commands treat such a checkpoint like any other; only the chunks that
//         contain wanted elements are read.
// Method: one small tensor, written by the ranks of several layouts with ZeRO ranges inside their
//         shards, and read by the ranks of each; then boxes larger than a chunk, one chunk damaged.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/format/diff.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/format/manifest_text.h"
#include "trireme/checkpoint/format/part.h"
#include "trireme/checkpoint/format/reader.h"
#include "trireme/checkpoint/format/record.h"
#include "trireme/checkpoint/format/reshard.h"
#include "trireme/checkpoint/format/verify.h"
#include "trireme/mesh/layout.h"

namespace trireme::checkpoint::format {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Sizes = std::vector<std::int64_t>;

// How a job's ranks hold a tensor: `tensor` ranks each have a shard, and `zero` ranks each a range
// of it.
struct Job {
  mesh::Layout layout;
  int tensor = 1;
  int zero = 1;
};

std::vector<mesh::ShardRange> held_by(const Job& job) {
  std::vector<mesh::ShardRange> all;
  for (int t = 0; t < job.tensor; ++t) {
    const mesh::Shard shard = job.layout.shard({{"tensor", t, job.tensor}});
    for (int z = 0; z < job.zero; ++z) {
      const std::int64_t begin = z * shard.count() / job.zero;
      const std::int64_t end = (z + 1) * shard.count() / job.zero;
      if (end > begin) all.push_back({.shard = shard, .begin = begin, .count = end - begin});
    }
  }
  return all;
}

// The index in the tensor of each element.
std::vector<std::int64_t> elements_of(const mesh::ShardRange& range) {
  const Sizes& view = range.shard.view().sizes();
  const mesh::Box& box = range.shard.box();
  std::vector<std::int64_t> all;
  for (std::int64_t i = range.begin; i < range.begin + range.count; ++i) {
    std::int64_t rest = i, stride = 1, at = 0;
    for (std::size_t d = view.size(); d > 0; --d) {
      at += (box.begin[d - 1] + rest % box.sizes[d - 1]) * stride;
      rest /= box.sizes[d - 1];
      stride *= view[d - 1];
    }
    all.push_back(at);
  }
  return all;
}

// Element i of the tensor has the value i, except for element `changed`. Every rank writes one
// part.
fs::path store(const fs::path& folder, const Job& job, const Sealing& sealing = {},
               std::int64_t changed = -1) {
  fs::create_directories(folder);
  const fs::path draft = make_draft(folder, 1, "test");
  Manifest manifest{.step = 1, .id = "boxes"};
  int rank = 0;
  for (const mesh::ShardRange& range : held_by(job)) {
    std::vector<std::uint16_t> values;
    for (const std::int64_t i : elements_of(range)) {
      values.push_back(static_cast<std::uint16_t>(i == changed ? 1000 : i));
    }
    add_part(manifest, write_part(draft / part_name(rank++, sealing.is_plain()),
                                  PartLayout({{.name = "w",
                                               .dtype = StoredDType::U16,
                                               .shard = range.shard,
                                               .begin = range.begin,
                                               .count = range.count}}),
                                  {std::as_bytes(std::span(values))},
                                  {.sealing = sealing, .id = manifest.id}));
  }
  settle(manifest);
  publish(FolderLock(folder), draft, manifest, {.key = sealing.key});
  return folder / folder_name(1);
}

void expect_readable_by(const Reader& reader, const Job& job) {
  for (const mesh::ShardRange& range : held_by(job)) {
    std::vector<std::uint16_t> values(static_cast<std::size_t>(range.count) + 1, 0xEEEE);
    reader.read(reader.tensor("w"), range, reinterpret_cast<std::byte*>(values.data()));
    const std::vector<std::int64_t> expected = elements_of(range);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), values.begin()))
        << job.layout.to_text() << ": " << range.shard.box().to_text();
    EXPECT_EQ(values.back(), 0xEEEE);
  }
}

std::vector<Job> jobs() {
  const mesh::View plain(Sizes{60, 7});
  const mesh::View qkv = mesh::View::split({{3, 4, 5}, {7}});
  return {{.layout = mesh::Layout(plain)},
          {.layout = mesh::Layout(plain), .tensor = 1, .zero = 4},
          {.layout = mesh::Layout(plain, {{"tensor", 0}}), .tensor = 7},
          {.layout = mesh::Layout(plain, {{"tensor", 1}}), .tensor = 3, .zero = 2},
          {.layout = mesh::Layout(qkv, {{"tensor", 1}}), .tensor = 2, .zero = 2},
          {.layout = mesh::Layout(qkv, {{"tensor", 1}}), .tensor = 3, .zero = 5},
          // More ranks than heads: some hold nothing.
          {.layout = mesh::Layout(qkv, {{"tensor", 1}}), .tensor = 6}};
}

TEST(StoredBoxes, AnyLayoutReadsWhatAnyOtherWrote) {
  const TemporaryFolder folder("boxes");
  const Reader plain(store(folder.path() / "plain", jobs()[0]));
  int number = 0;
  for (const Job& writer : jobs()) {
    SCOPED_TRACE(writer.layout.to_text());
    const fs::path path = store(folder.path() / std::to_string(++number), writer);
    const Reader reader(path);
    EXPECT_THAT(damage_in(path), IsEmpty());
    EXPECT_THAT(differences(plain, reader), IsEmpty());
    for (const Job& job : jobs()) expect_readable_by(reader, job);
    const fs::path other = folder.path() / (std::to_string(number) + "-resharded");
    const Reader resharded(reshard(reader, {.folder = other, .parts = 3}));
    EXPECT_THAT(differences(plain, resharded), IsEmpty());
  }
}

TEST(StoredBoxes, ADifferenceIsReportedAtItsIndexInTheTensor) {
  const TemporaryFolder folder("boxes");
  const Reader plain(store(folder.path() / "plain", jobs()[0]));
  int number = 0;
  for (const Job& writer : jobs()) {
    SCOPED_TRACE(writer.layout.to_text());
    const Reader other(store(folder.path() / std::to_string(++number), writer, {}, 123));
    for (const auto& found : {differences(plain, other), differences(other, plain)}) {
      ASSERT_EQ(found.size(), 1u);
      EXPECT_EQ(found[0].count, 1);
      EXPECT_EQ(found[0].largest, 1000 - 123);
      EXPECT_EQ(found[0].largest_index, 123);
    }
  }
}

TEST(StoredBoxes, SealedBoxesAreReadAndBoundToTheirPlace) {
  const Sealing sealing{.is_compressed = true, .key = net::Secret::generate()};
  try {
    sealing.expect_possible();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const TemporaryFolder folder("boxes");
  const fs::path path = store(folder.path() / "sealed", jobs()[4], sealing);
  const ReadOptions reading = sealing.reading();
  for (const Job& job : jobs()) expect_readable_by(Reader(path, reading), job);
  // Even if a holder of the key signs it: a chunk belongs to the box for which it was written.
  Manifest manifest = Reader(path, reading).manifest();
  std::vector<StoredPiece>& pieces = manifest.tensors[0].pieces;
  ASSERT_EQ(pieces.size(), 4u);
  std::swap(pieces[0].box, pieces[2].box);
  std::swap(pieces[1].box, pieces[3].box);
  settle(manifest);
  write_file_atomically(path / kManifestName, manifest_text(manifest, sealing.key));
  EXPECT_THAT(damage_in(path, reading),
              ::testing::Each(HasSubstr("was not written there by a holder of its key")));
  EXPECT_THAT(damage_in(path, reading), ::testing::SizeIs(4));
}

// Other programs find a shard with the shape of a tensor that holds it.
TEST(StoredBoxes, PartsNameBoxesAndRanges) {
  const TemporaryFolder folder("boxes");
  std::map<std::string, Sizes> found;
  for (const Job& job : {jobs()[4], jobs()[6]}) {
    const fs::path path = store(folder.path() / std::to_string(job.tensor), job);
    const Reader reader(path);
    for (const StoredFile& file : reader.manifest().files) {
      for (const Entry& entry : read_header(path / file.name).entries) {
        found[entry.name] = entry.sizes;
      }
    }
  }
  EXPECT_EQ(found.at("w@0,2,0,0@105"), (Sizes{105}));
  EXPECT_EQ(found.at("w@0,3,0,0"), (Sizes{15, 7}));
}

TEST(StoredBoxes, OnlyChunksWithWantedElementsAreRead) {
  constexpr std::int64_t kRows = 1100, kColumns = 8192, kHalf = kColumns / 2;
  const TemporaryFolder folder("boxes");
  const fs::path draft = make_draft(folder.path(), 1, "test");
  const mesh::View view(Sizes{kRows, kColumns});
  const auto value = [](std::int64_t row, std::int64_t column) {
    return static_cast<std::byte>(row * 31 + row / 8 + column * 7 + column / 256);
  };
  Manifest manifest{.step = 1};
  for (int half = 0; half < 2; ++half) {
    Bytes bytes;
    for (std::int64_t row = 0; row < kRows; ++row) {
      for (std::int64_t i = 0; i < kHalf; ++i) bytes.push_back(value(row, half * kHalf + i));
    }
    add_part(manifest, write_part(draft / part_name(half),
                                  PartLayout({{.name = "w",
                                               .dtype = StoredDType::U8,
                                               .shard = {view, {{0, half * kHalf}, {kRows, kHalf}}},
                                               .count = kRows * kHalf}}),
                                  {bytes}));
  }
  settle(manifest);
  publish(FolderLock(folder.path()), draft, manifest);
  const fs::path path = folder.path() / folder_name(1);
  const Reader reader(path);
  const StoredTensor& tensor = reader.tensor("w");
  // Chunk 0 of a half has its rows 0 to 1023.
  const auto expect_rows = [&](std::int64_t begin, std::int64_t count) {
    Bytes out(static_cast<std::size_t>(count * kColumns));
    reader.read(tensor, begin * kColumns, count * kColumns, out.data());
    for (std::int64_t i = 0; i < count * kColumns; ++i) {
      ASSERT_EQ(out[static_cast<std::size_t>(i)], value(begin + i / kColumns, i % kColumns)) << i;
    }
  };
  expect_rows(1020, 8);
  const auto damaged = static_cast<std::int64_t>(tensor.pieces[1].offset + kChunkSize + 5);
  std::fstream file(path / part_name(1), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(damaged);
  file.put(static_cast<char>(~static_cast<int>(value(1024, kHalf + 5))));
  file.close();
  expect_rows(1000, 24);
  Bytes row(kColumns);
  EXPECT_THROW(reader.read(tensor, 1024 * kColumns, kColumns, row.data()), Error);
  EXPECT_NO_THROW(reader.read(tensor, 1024 * kColumns, kHalf, row.data()));
}

}  // namespace
}  // namespace trireme::checkpoint::format
