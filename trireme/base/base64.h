// Base64 (RFC 4648, section 4, with padding): bytes as JSON can carry them.
//
// Threads: pure.
// Failure: from_base64 throws Protocol for anything that to_base64 does not write.

#pragma once

#include <string>
#include <string_view>

#include "trireme/base/bytes.h"

namespace trireme {

std::string to_base64(ByteView bytes);
Bytes from_base64(std::string_view text);

}  // namespace trireme
