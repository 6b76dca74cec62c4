#include "trireme/base/openssl.h"

#include <openssl/err.h>

#include <array>
#include <string>

#include "trireme/base/error.h"

namespace trireme {

void expect_openssl(int result, std::string_view what) {
  if (result == 1) return;
  std::array<char, 256> reason{};
  ::ERR_error_string_n(::ERR_peek_last_error(), reason.data(), reason.size());
  ::ERR_clear_error();
  throw Error(ErrorCode::Io, "OpenSSL: " + std::string(what) + " failed").with_cause(reason.data());
}

}  // namespace trireme
