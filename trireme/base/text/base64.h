// Base64 (RFC 4648, section 4, with padding), by OpenSSL, for carrying bytes in JSON.
//
// Thread safety: pure functions; any thread may call them.
// Errors:        from_base64 throws Protocol for any text that to_base64 would not have written;
//                to_base64 throws Exhausted if the text would be larger than 1 GiB.

#pragma once

#include <string>
#include <string_view>

#include "trireme/base/bytes.h"

namespace trireme {

std::string to_base64(ByteView bytes);
Bytes from_base64(std::string_view text);

}  // namespace trireme
