// TensorboardWriter writes an event file that TensorBoard reads: curves of numbers and texts.
//
//   TensorboardWriter board(folder);
//   board.scalar("loss", 0.25, step);
//
// Form:    TFRecord frames (length, masked CRC32C, bytes, masked CRC32C) of Event messages, encoded
//          here by hand: the few fields used are older than any build of protobuf.
// Resume:  a later writer of the same folder makes a file of its own; TensorBoard reads both, and
//          `from_step` tells it to forget what the first one said of that step and later ones.
// Failure: the constructor throws Io. Later, a write that fails is the last, and
//          is_broken() says so: curves are no reason to end a training run.
// Threads: one at a time.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "trireme/base/descriptor.h"

namespace trireme::monitor {

class TensorboardWriter {
 public:
  explicit TensorboardWriter(const std::filesystem::path& folder,
                             std::optional<std::int64_t> from_step = std::nullopt);
  ~TensorboardWriter();
  TensorboardWriter(const TensorboardWriter&) = delete;
  TensorboardWriter& operator=(const TensorboardWriter&) = delete;

  void scalar(std::string_view tag, double value, std::int64_t step);
  // Shown as Markdown.
  void text(std::string_view tag, std::string_view content, std::int64_t step);

  // To the file, not to the disk. Done by itself when a few kilobytes have gathered.
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
