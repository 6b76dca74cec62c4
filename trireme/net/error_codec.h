// Encodes an Error for the network with all its fields, so that the caller catches the same Error
// that the server threw.
//
// Bounds:        each text is truncated to kErrorTextMax bytes before sending; longer texts are
//                refused.
// Errors:        decode_error throws Protocol for bytes that encode_error does not produce.
// Thread safety: pure functions; any thread may call them.

#pragma once

#include <cstddef>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"

namespace trireme::net {

inline constexpr std::size_t kErrorTextMax = std::size_t{64} << 10;

Bytes encode_error(const Error& error);
Error decode_error(ByteView bytes);

}  // namespace trireme::net
