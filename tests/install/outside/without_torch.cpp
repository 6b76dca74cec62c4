// Goal:   a program elsewhere needs nothing but the installed trireme::core.
// Method: asks the library what it is.

#include <cstdio>

#include "trireme/base/build_info.h"

int main() {
  const auto& info = trireme::base::build_info();
  std::printf("trireme %s, build %s\n", info.version.data(), info.build_id.data());
  return info.build_id.size() == 16 ? 0 : 1;
}
