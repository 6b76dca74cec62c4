#include "trireme/base/entropy.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "trireme/base/error.h"

namespace trireme {

void secure_random(std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t count = ::getrandom(out.data(), out.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      throw Error(
          ErrorCode::Unsupported,
          std::string("getrandom: the kernel gives no random bytes: ") + std::strerror(errno));
    }
    out = out.subspan(static_cast<std::size_t>(count));
  }
}

Bytes secure_random(std::size_t size) {
  Bytes out(size);
  secure_random(std::span(out));
  return out;
}

std::string secure_random_hex(std::size_t size) {
  return to_hex(secure_random(size));
}

}  // namespace trireme
