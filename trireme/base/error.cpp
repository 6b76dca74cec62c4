#include "trireme/base/error.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace trireme {
namespace {

struct CodeRow {
  std::string_view name;
  Consequence consequence;
};

// In the same order as ErrorCode.
constexpr std::array<CodeRow, kErrorCodeCount> kCodes{{
    {"Misuse", Consequence::Stop},
    {"InvalidInput", Consequence::Stop},
    {"NotFound", Consequence::Stop},
    {"Mismatch", Consequence::Stop},
    {"PeerLost", Consequence::Rebuild},
    {"Deadline", Consequence::Rebuild},
    {"Aborted", Consequence::Rebuild},
    {"RemoteFailure", Consequence::Stop},
    {"Unauthenticated", Consequence::Stop},
    {"Protocol", Consequence::Rebuild},
    {"Unreachable", Consequence::Retry},
    {"Exhausted", Consequence::Restart},
    {"Corrupt", Consequence::Stop},
    {"Io", Consequence::Restart},
    {"Unsupported", Consequence::Stop},
    {"Diverged", Consequence::Stop},
}};

const CodeRow& row_of(ErrorCode code) noexcept {
  return kCodes[static_cast<std::size_t>(code)];
}

}  // namespace

std::string_view name_of(ErrorCode code) noexcept {
  return row_of(code).name;
}

Consequence consequence_of(ErrorCode code) noexcept {
  return row_of(code).consequence;
}

std::string_view name_of(Consequence consequence) noexcept {
  switch (consequence) {
    case Consequence::Retry:
      return "retry";
    case Consequence::Rebuild:
      return "rebuild";
    case Consequence::Restart:
      return "restart";
    case Consequence::Stop:
      return "stop";
  }
  return "unknown";
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
