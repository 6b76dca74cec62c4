// TokenRow is a long sequence of tokens from which windows are read: in memory, in a file of
// numbers, or in a text that is converted to tokens when it is read.
//
// Thread safety: every function is const; any number of threads may call it at once.
// Errors:        read() may throw Corrupt.

#pragma once

#include <cstdint>

namespace trireme::data::sequence {

class TokenRow {
 public:
  virtual ~TokenRow() = default;

  virtual std::int64_t count() const = 0;
  // Reads tokens first .. first + count - 1. REQUIRES: they exist.
  virtual void read(std::int64_t first, std::int64_t count, std::int64_t* out) const = 0;
};

}  // namespace trireme::data::sequence
