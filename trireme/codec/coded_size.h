// Encoded bytes come from other ranks. Their size is checked before anything is decoded.

#pragma once

#include <cstddef>
#include <string>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"

namespace trireme::codec {

// Throws Corrupt unless `coded` has this size.
inline void expect_size(ByteView coded, std::size_t size) {
  if (coded.size() == size) return;
  throw Error(ErrorCode::Corrupt, "a bucket of " + std::to_string(coded.size()) +
                                      " encoded bytes where there must be " + std::to_string(size));
}

}  // namespace trireme::codec
