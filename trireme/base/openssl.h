// Turns a failed call of OpenSSL into an Error. The calls that Trireme makes fail only if memory is
// short or if this machine's OpenSSL configuration disables an algorithm.
//
// Thread safety: any thread may call it; OpenSSL keeps its errors per thread.
// Errors:        Io, with OpenSSL's reason.

#pragma once

#include <string_view>

namespace trireme {

// `result` is what OpenSSL returned, 1 for success; `what` names the operation, as in "SHA-256".
void expect_openssl(int result, std::string_view what);

}  // namespace trireme
