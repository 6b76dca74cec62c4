// How an Error travels: every field, so that what a caller catches is what the server threw.
//
// Bounds:  each text is cut to kErrorTextMax bytes before it leaves; longer ones are not accepted.
// Failure: decode_error throws Protocol for bytes that encode_error never makes.
// Threads: pure functions.

#pragma once

#include <cstddef>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"

namespace trireme::net {

inline constexpr std::size_t kErrorTextMax = std::size_t{64} << 10;

Bytes encode_error(const Error& error);
Error decode_error(ByteView bytes);

}  // namespace trireme::net
