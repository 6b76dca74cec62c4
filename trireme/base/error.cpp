#include "trireme/base/error.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace trireme {
namespace {

// In the same order as ErrorCode.
constexpr std::array<std::string_view, kErrorCodeCount> kNames{
    "Misuse",          "InvalidInput", "NotFound",    "Mismatch",
    "PeerLost",        "Deadline",     "Aborted",     "RemoteFailure",
    "Unauthenticated", "Protocol",     "Unreachable", "Exhausted",
    "Corrupt",         "Io",           "Unsupported", "Diverged",
};

}  // namespace

std::string_view name_of(ErrorCode code) noexcept {
  return kNames[static_cast<std::size_t>(code)];
}

Error::Error(ErrorCode code, std::string message)
    : std::runtime_error(""), code_(code), message_(std::move(message)) {
  rebuild_text();
}

Error Error::with_rank(int rank) const {
  Error copy = *this;
  copy.rank_ = rank;
  copy.rebuild_text();
  return copy;
}

Error Error::with_peer(int peer) const {
  Error copy = *this;
  copy.peer_ = peer;
  copy.rebuild_text();
  return copy;
}

Error Error::with_operation(std::string_view operation) const {
  Error copy = *this;
  copy.operation_ = operation;
  copy.rebuild_text();
  return copy;
}

Error Error::with_cause(std::string_view cause) const {
  Error copy = *this;
  copy.cause_ = cause;
  copy.rebuild_text();
  return copy;
}

void Error::rebuild_text() {
  text_.clear();
  if (rank_) text_ += "rank " + std::to_string(*rank_) + ": ";
  if (!operation_.empty()) text_ += operation_ + ": ";
  if (peer_) text_ += "peer " + std::to_string(*peer_) + ": ";
  text_ += message_;
  text_ += " [";
  text_ += name_of(code_);
  text_ += "]";
  if (!cause_.empty()) text_ += " (cause: " + cause_ + ")";
}

Error system_error(std::string_view what, int error_number) {
  const bool is_shortage = error_number == ENOSPC || error_number == ENOMEM ||
                           error_number == EMFILE || error_number == ENFILE ||
                           error_number == EDQUOT || error_number == EFBIG;
  const ErrorCode code = is_shortage ? ErrorCode::Exhausted : ErrorCode::Io;
  return Error(code, std::string(what) + ": " + std::strerror(error_number));
}

}  // namespace trireme
