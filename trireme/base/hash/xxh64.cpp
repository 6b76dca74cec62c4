#include "trireme/base/hash/xxh64.h"

#define XXH_INLINE_ALL  // header-only, so that nothing is linked
#include <xxhash.h>

namespace trireme {

std::uint64_t xxh64(ByteView message, std::uint64_t seed) noexcept {
  return ::XXH64(message.data(), message.size(), seed);
}

}  // namespace trireme
