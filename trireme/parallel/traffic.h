// Traffic counts the bytes that a rank sent in a step, before and after encoding, once however many
// ranks receive them; 0: not counted.
//
// Thread safety: a value.

#pragma once

#include <cstdint>

namespace trireme::parallel {

struct Traffic {
  std::int64_t plain = 0;
  std::int64_t sent = 0;

  Traffic& operator+=(const Traffic& other) noexcept {
    plain += other.plain;
    sent += other.sent;
    return *this;
  }
};

}  // namespace trireme::parallel
