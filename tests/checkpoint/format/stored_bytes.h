// A checkpoint of plain bytes, for tests of the format: tensor "a" in two parts, as two writers
// would create it, and tensor "b" as a whole.

#pragma once

#include <filesystem>
#include <numeric>

#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/format/part.h"

namespace trireme::checkpoint::format {

// Elements of "a": more than two chunks, and not a multiple of the chunk size.
inline constexpr std::int64_t kCountA = 2 * (4 << 20) + 12345;
inline constexpr std::int64_t kCutA = (4 << 20) + 77;

inline Bytes bytes_a() {
  Bytes bytes(kCountA);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

inline std::filesystem::path store_bytes(const std::filesystem::path& folder, std::int64_t step) {
  const Bytes a = bytes_a();
  const Bytes b(12, std::byte{9});
  const auto draft = make_draft(folder, step, "test");
  Manifest manifest{.step = step};
  add_part(manifest, write_part(draft / "part-00001.safetensors",
                                PartLayout({{.name = "a",
                                             .dtype = StoredDType::U8,
                                             .shard = {{kCountA}},
                                             .begin = kCutA,
                                             .count = kCountA - kCutA}}),
                                {ByteView(a).subspan(kCutA)}));
  add_part(
      manifest,
      write_part(
          draft / "part-00000.safetensors",
          PartLayout({{.name = "a", .dtype = StoredDType::U8, .shard = {{kCountA}}, .count = kCutA},
                      {.name = "b", .dtype = StoredDType::I32, .shard = {{3}}, .count = 3}}),
          {ByteView(a).first(kCutA), b}));
  settle(manifest);
  publish(FolderLock(folder), draft, manifest);
  return folder / folder_name(step);
}

}  // namespace trireme::checkpoint::format
