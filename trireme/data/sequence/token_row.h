// TokenRow is a long row of tokens, of which windows are read: in memory, in a file of numbers, or
// in a text that is turned into tokens where it is read.
//
// Threads: every function is const and may be called from any number of threads at once.
// Failure: read() may throw Corrupt.

#pragma once

#include <cstdint>

namespace trireme::data::sequence {

class TokenRow {
 public:
  virtual ~TokenRow() = default;

  virtual std::int64_t count() const = 0;
  // Tokens first .. first + count - 1. REQUIRES: they are there.
  virtual void read(std::int64_t first, std::int64_t count, std::int64_t* out) const = 0;
};

}  // namespace trireme::data::sequence
