// Converts arrays between 16-bit floats and float32.

#pragma once

#include <cstddef>

#include "trireme/comm/dtype.h"

namespace trireme::comm {

// REQUIRES: is_half(type).
void widen(DType type, const void* in, float* out, std::size_t count);
// Rounds to nearest even.
void narrow(DType type, const float* in, void* out, std::size_t count);

}  // namespace trireme::comm
