// Goal:   a checkpoint has the same content in any number of parts, and diff reports where two
//         checkpoints differ, and reads every chunk once.
// Method: rewrites the bytes of stored_bytes.h in 1 to 9 parts, in place and elsewhere; then
//         changes one element at a time, of every type; then counts the bytes that diff reads of
//         tensors in many pieces and in columns.

#include "trireme/checkpoint/format/reshard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "tests/checkpoint/format/stored_bytes.h"
#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/base/hash/xxh64.h"
#include "trireme/checkpoint/format/diff.h"
#include "trireme/checkpoint/format/record.h"
#include "trireme/checkpoint/format/shelf.h"
#include "trireme/checkpoint/format/verify.h"

namespace trireme::checkpoint::format {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(CheckpointReshard, AnyNumberOfPartsHasTheSameContent) {
  const TemporaryFolder folder("reshard"), other("reshard");
  const fs::path path = store_bytes(folder.path(), 5);
  for (const int parts : {1, 2, 3, 4, 7, 9}) {
    const fs::path made = reshard(Reader(path), {.folder = other.path(), .parts = parts});
    EXPECT_THAT(damage_in(made), IsEmpty());
    EXPECT_THAT(differences(Reader(path), Reader(made)), IsEmpty());
    const Manifest manifest = Reader(made).manifest();
    ASSERT_THAT(manifest.files, SizeIs(static_cast<std::size_t>(parts)));
    for (const StoredFile& file : manifest.files) {
      // A header of one page, at most two.
      EXPECT_NEAR(static_cast<double>(file.size), 4096 + (kCountA + 12.0) / parts, 4097);
    }
  }
  const Shelf busy({.folder = folder.path()});
  EXPECT_THROW(reshard(Reader(path), {.folder = folder.path()}), Error);
}

TEST(CheckpointReshard, ReshardsInPlace) {
  const TemporaryFolder folder("reshard");
  const fs::path path = store_bytes(folder.path(), 5);
  EXPECT_EQ(reshard(Reader(path), {.folder = folder.path(), .parts = 3}), path);
  EXPECT_THAT(damage_in(path), IsEmpty());
  EXPECT_THAT(Reader(path).manifest().files, SizeIs(3));
  EXPECT_THAT(drafts_in(folder.path()), IsEmpty());
}

fs::path store_one(const fs::path& folder, StoredDType dtype, ByteView bytes,
                   const char* name = "w") {
  fs::create_directories(folder);
  const auto draft = make_draft(folder, 1, "one");
  Manifest manifest{.step = 1};
  const auto count = static_cast<std::int64_t>(bytes.size() / size_of(dtype));
  add_part(
      manifest,
      write_part(draft / "part-00000.safetensors",
                 PartLayout({{.name = name, .dtype = dtype, .shard = {{count}}, .count = count}}),
                 {bytes}));
  settle(manifest);
  publish(FolderLock(folder), draft, manifest);
  return folder / folder_name(1);
}

template <class T>
Difference difference_of(StoredDType dtype, T from, T to) {
  const TemporaryFolder folder("diff");
  const T a[3] = {from, from, from}, b[3] = {from, from, to};
  const Reader left(store_one(folder.path() / "a", dtype, std::as_bytes(std::span(a))));
  const Reader right(store_one(folder.path() / "b", dtype, std::as_bytes(std::span(b))));
  const auto all = differences(left, right);
  EXPECT_THAT(all, SizeIs(1));
  return all.empty() ? Difference{} : all[0];
}

TEST(CheckpointDiff, ReportsTheLargestDifference) {
  const Difference f32 = difference_of<float>(StoredDType::F32, 1.5f, -2.0f);
  EXPECT_EQ(f32.largest, 3.5);
  EXPECT_EQ(f32.largest_index, 2);
  EXPECT_EQ(f32.count, 1);
  EXPECT_EQ(difference_of<double>(StoredDType::F64, 1, 1.25).largest, 0.25);
  EXPECT_EQ(difference_of<std::int64_t>(StoredDType::I64, -3, 4).largest, 7);
  EXPECT_EQ(difference_of<std::uint16_t>(StoredDType::BF16, 0x3F80, 0x4000).largest, 1);  // 1 and 2
  EXPECT_EQ(difference_of<std::uint16_t>(StoredDType::F16, 0x3C00, 0x4200).largest, 2);   // 1 and 3
  EXPECT_EQ(difference_of<std::uint16_t>(StoredDType::F16, 0, 1).largest, std::ldexp(1, -24));
  EXPECT_EQ(difference_of<std::uint8_t>(StoredDType::F8E4M3, 0x38, 0x7E).largest,
            447);  // 1 and 448
  EXPECT_TRUE(std::isnan(difference_of<float>(StoredDType::F32, 1, NAN).largest));
  // different bits, equal values
  EXPECT_EQ(difference_of<float>(StoredDType::F32, 0.0f, -0.0f).largest, 0);
}

TEST(CheckpointDiff, ReportsMissingTensorsAndOtherShapes) {
  const TemporaryFolder folder("diff");
  const Bytes bytes(8);
  const Reader a(store_one(folder.path() / "a", StoredDType::F32, bytes));
  const Reader b(store_one(folder.path() / "b", StoredDType::F32, bytes, "v"));
  const Reader c(store_one(folder.path() / "c", StoredDType::F64, bytes));
  const auto names = differences(a, b);
  ASSERT_THAT(names, SizeIs(2));
  EXPECT_EQ(names[0].what, "only in the second");
  EXPECT_EQ(names[1].what, "only in the first");
  const auto forms = differences(a, c);
  ASSERT_THAT(forms, SizeIs(1));
  EXPECT_EQ(forms[0].what, "F32 (2) and F64 (1)");
}

// A tensor of zero bytes in these pieces, in one part without a header.
fs::path store_zeros(const fs::path& folder, const std::vector<mesh::ShardRange>& ranges) {
  fs::create_directories(folder);
  const fs::path draft = make_draft(folder, 1, "zeros");
  const Bytes zeros(kChunkSize);
  StoredFile file{.name = part_name(0)};
  StoredTensor tensor{.name = "w", .dtype = StoredDType::U8, .view = ranges[0].shard.view()};
  for (const mesh::ShardRange& range : ranges) {
    StoredPiece& piece = tensor.pieces.emplace_back(StoredPiece{.file = file.name,
                                                                .box = range.shard.box(),
                                                                .begin = range.begin,
                                                                .count = range.count,
                                                                .offset = file.size});
    const auto size = static_cast<std::uint64_t>(range.count);
    for (std::uint64_t done = 0; done < size; done += kChunkSize) {
      piece.checksums.push_back(xxh64(ByteView(zeros).first(std::min(kChunkSize, size - done))));
    }
    file.size += size;
  }
  std::ofstream(draft / file.name).close();
  fs::resize_file(draft / file.name, file.size);
  Manifest manifest{.step = 1, .files = {file}, .tensors = {tensor}};
  settle(manifest);
  publish(FolderLock(folder), draft, manifest);
  return folder / folder_name(1);
}

// In `columns` boxes, each in `ranges` pieces.
std::vector<mesh::ShardRange> divided(const mesh::View& view, std::int64_t columns,
                                      std::int64_t ranges) {
  const std::int64_t width = view.sizes()[1] / columns;
  std::vector<mesh::ShardRange> all;
  for (std::int64_t c = 0; c < columns; ++c) {
    const mesh::Shard shard(view, {{0, c * width}, {view.sizes()[0], width}});
    for (std::int64_t r = 0; r < ranges; ++r) {
      const std::int64_t count = shard.count() / ranges;
      all.push_back({.shard = shard, .begin = r * count, .count = count});
    }
  }
  return all;
}

// Bytes that this process has read from files.
std::uint64_t bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string name;
  std::uint64_t bytes = 0;
  return file >> name >> bytes && name == "rchar:" ? bytes : 0;
}

// The chunks of two checkpoints that are divided alike or not, also those that end anywhere.
TEST(CheckpointDiff, ReadsEveryChunkOnce) {
  if (bytes_read() == 0) GTEST_SKIP() << "NOT TESTED: this system does not count bytes";
  const TemporaryFolder folder("diff");
  int number = 0;
  const auto expect_read_once = [&](const std::vector<mesh::ShardRange>& one,
                                    const std::vector<mesh::ShardRange>& other) {
    const auto stored = [&](const std::vector<mesh::ShardRange>& ranges) {
      return Reader(store_zeros(folder.path() / std::to_string(number++), ranges));
    };
    const Reader a = stored(one), b = stored(other);
    const std::uint64_t before = bytes_read();
    EXPECT_THAT(differences(a, b), IsEmpty());
    const auto read = static_cast<double>(bytes_read() - before);
    EXPECT_NEAR(read / static_cast<double>(2 * a.manifest().data_size()), 1, 0.1);
  };
  const mesh::View small(std::vector<std::int64_t>{1024, 1024});
  expect_read_once(divided(small, 1, 1), divided(small, 1, 1024));
  expect_read_once(divided(small, 1, 2048), divided(small, 64, 2));
  const mesh::View large(std::vector<std::int64_t>{16 * 1024, 8 * 1024});
  expect_read_once(divided(large, 1, 1), divided(large, 16, 1));
  expect_read_once(divided(large, 16, 1), divided(large, 4, 4));
}

}  // namespace
}  // namespace trireme::checkpoint::format
