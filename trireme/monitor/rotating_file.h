// RotatingFile appends lines to a file that never grows past a bound: when it is full it becomes
// `<name>.1`, replacing the one before, and a new one begins.
//
// Meaning:  every line is whole in exactly one of the two files; together they hold at least the
//           last `size_max` bytes and at most twice that.
// Failure:  opening throws Io. A line that cannot be written (a full disk) is dropped and
//           counted; so is one longer than `size_max`. Appending never throws.
// Threads:  one at a time. Readers in other processes may follow the file; each line arrives by
//           one write(2).

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

#include "trireme/base/descriptor.h"

namespace trireme::monitor {

class RotatingFile {
 public:
  enum class Beginning { Anew, Continued };

  // Begins an empty file, mode 0600.
  explicit RotatingFile(std::filesystem::path path, std::size_t size_max = std::size_t{8} << 20)
      : RotatingFile(std::move(path), Beginning::Anew, size_max) {}
  // Continued: goes on after what another process had written.
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
