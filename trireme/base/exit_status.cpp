#include "trireme/base/exit_status.h"

#include <cerrno>
#include <filesystem>
#include <new>
#include <string>

namespace trireme {
namespace {

// Empty if the path itself is not the problem.
std::string remedy_for(int error_number) {
  switch (error_number) {
    case ENAMETOOLONG:
      return "name a shorter path";
    case ENOTDIR:
      return "a part of this path is a file, not a folder: name another";
    case EISDIR:
      return "this is a folder: name a file";
    case EEXIST:
      return "there is something of that name: name another";
    case ELOOP:
      return "links lead round in a circle: name another path";
    case EINVAL:
    case EILSEQ:
      return "this is no path: name another";
    case ENOENT:
      return "check it for a typing error";
    case EACCES:
    case EPERM:
    case EROFS:
      return "name a path that you may read and write";
    default:
      return {};
  }
}

Error path_error(const std::filesystem::filesystem_error& thrown) {
  std::string what = thrown.path1().empty() ? "a path" : thrown.path1().string();
  if (!thrown.path2().empty()) what += " and " + thrown.path2().string();
  const int number = thrown.code().value();
  const std::string remedy = remedy_for(number);
  if (remedy.empty()) return system_error(what, number);
  const ErrorCode code = number == ENOENT ? ErrorCode::NotFound : ErrorCode::InvalidInput;
  return Error(code, what + ": " + thrown.code().message() + "; " + remedy);
}

}  // namespace

bool is_users_mistake(ErrorCode code) noexcept {
  return code == ErrorCode::InvalidInput || code == ErrorCode::NotFound;
}

int exit_status(const Error& error) noexcept {
  return is_users_mistake(error.code()) ? kExitUsage : kExitFailure;
}

Error as_error(const std::exception& thrown) {
  if (const auto* error = dynamic_cast<const Error*>(&thrown)) return *error;
  if (const auto* refused = dynamic_cast<const std::filesystem::filesystem_error*>(&thrown)) {
    return path_error(*refused);
  }
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr) {
    return Error(ErrorCode::Exhausted, "no memory is left");
  }
  return Error(ErrorCode::Io, thrown.what());
}

}  // namespace trireme
