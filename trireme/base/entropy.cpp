#include "trireme/base/entropy.h"

#include <openssl/rand.h>

#include "trireme/base/openssl.h"

namespace trireme {

void secure_random(std::span<std::byte> out) {
  expect_openssl(
      ::RAND_bytes_ex(nullptr, reinterpret_cast<unsigned char*>(out.data()), out.size(), 0),
      "random bytes");
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
