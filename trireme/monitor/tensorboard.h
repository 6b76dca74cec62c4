// TensorboardWriter writes a TensorBoard event file with scalars and texts.
//
//   TensorboardWriter board(folder);
//   board.scalar("loss", 0.25, step);
//
// Format:        TFRecord frames (length, masked CRC32C, bytes, masked CRC32C) of Event messages.
//                They are encoded by hand, without protobuf; the few fields used are stable.
// Resume:        a later writer for the same folder creates its own file. TensorBoard reads both,
//                and `from_step` makes it discard the first file's data of that step and later
//                ones.
// Errors:        the constructor throws Io. After a failed write nothing more is written and
//                is_broken() returns true: a TensorBoard error must not end a training run.
// Thread safety: one thread at a time.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "trireme/base/file/descriptor.h"

namespace trireme::monitor {

class TensorboardWriter {
 public:
  explicit TensorboardWriter(const std::filesystem::path& folder,
                             std::optional<std::int64_t> from_step = std::nullopt);
  ~TensorboardWriter();
  TensorboardWriter(const TensorboardWriter&) = delete;
  TensorboardWriter& operator=(const TensorboardWriter&) = delete;

  void scalar(std::string_view tag, double value, std::int64_t step);
  // TensorBoard renders it as Markdown.
  void text(std::string_view tag, std::string_view content, std::int64_t step);

  // Writes to the file without fsync(2). Also called automatically when a few kilobytes are
  // pending.
  void flush();

  const std::filesystem::path& path() const noexcept { return path_; }
  bool is_broken() const noexcept { return is_broken_; }

 private:
  void add_event(std::string_view event);

  std::filesystem::path path_;
  Descriptor descriptor_;
  std::string pending_;
  bool is_broken_ = false;
};

}  // namespace trireme::monitor
