#include "trireme/base/error.h"
#include "trireme/data/zlib/gunzip.h"

namespace trireme::data::zlib {

std::string gunzip(std::string_view, const std::string& name, std::size_t) {
  throw Error(ErrorCode::Unsupported,
              name +
                  ": this build reads no .gz files; unpack it with gunzip, or install zlib1g-dev "
                  "and build again");
}

}  // namespace trireme::data::zlib
