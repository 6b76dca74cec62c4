#include "trireme/base/check.h"

#include <cstring>

#include "trireme/base/error.h"

namespace trireme::detail {

void check_failed(const char* expression, const std::string& message, const char* file, int line) {
  const char* slash = std::strrchr(file, '/');
  throw Error(ErrorCode::Misuse, concatenate("check failed: ", expression, ": ", message, " at ",
                                             slash ? slash + 1 : file, ":", line));
}

}  // namespace trireme::detail
