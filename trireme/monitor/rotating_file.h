// RotatingFile appends lines to a file of bounded size. When the file is full, it is renamed to
// `<name>.1`, which replaces the previous one, and a new file is started.
//
// Contents:      every line is complete in exactly one of the two files. Together they hold at
//                least the last `size_max` bytes and at most twice that.
// Errors:        opening throws Io. A line that cannot be written (full disk) or that is longer
//                than `size_max` is dropped and counted. Appending never throws.
// Thread safety: one thread at a time. Other processes may follow the file; each line is written by
//                one writev(2).

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

#include "trireme/base/file/descriptor.h"

namespace trireme::monitor {

class RotatingFile {
 public:
  enum class Beginning { Anew, Continued };

  // Starts an empty file with mode 0600.
  explicit RotatingFile(std::filesystem::path path, std::size_t size_max = std::size_t{8} << 20)
      : RotatingFile(std::move(path), Beginning::Anew, size_max) {}
  // Continued: appends to what another process has written.
  RotatingFile(std::filesystem::path path, Beginning beginning,
               std::size_t size_max = std::size_t{8} << 20);

  // `line` without its newline.
  void append(std::string_view line) noexcept;

  std::uint64_t dropped() const noexcept { return dropped_; }
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  bool rotate() noexcept;

  std::filesystem::path path_;
  std::size_t size_max_;
  std::size_t size_ = 0;
  std::uint64_t dropped_ = 0;
  Descriptor file_;
};

}  // namespace trireme::monitor
