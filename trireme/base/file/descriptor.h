// Descriptor owns a file descriptor and closes it.
//
// Thread safety: a move-only value, used by one thread at a time.

#pragma once

#include <unistd.h>

#include <utility>

namespace trireme {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) noexcept : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      value_ = std::exchange(other.value_, -1);
    }
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const noexcept { return value_; }
  explicit operator bool() const noexcept { return value_ >= 0; }

  // Closes the descriptor now. Errors of close(2) are ignored; a caller that needs the data on disk
  // must call fsync(2) first.
  void reset() noexcept {
    if (value_ >= 0) ::close(std::exchange(value_, -1));
  }
  // Releases ownership without closing.
  [[nodiscard]] int release() noexcept { return std::exchange(value_, -1); }

 private:
  int value_ = -1;
};

}  // namespace trireme
