#include "trireme/comm/announcement.h"

namespace trireme::comm {

Announcement Announcement::of(const Error& error, int reporter) {
  if (error.code() == ErrorCode::PeerLost && !error.message().empty()) {
    return {error.code(), reporter, error.peer().value_or(reporter), error.message()};
  }
  const bool is_mismatch = error.code() == ErrorCode::Mismatch;
  return {is_mismatch ? error.code() : ErrorCode::RemoteFailure, reporter, reporter, error.what()};
}

bool Announcement::is_known(ErrorCode code) noexcept {
  return code == ErrorCode::Mismatch || code == ErrorCode::PeerLost ||
         code == ErrorCode::RemoteFailure;
}

Error Announcement::to_error() const {
  const char* how = code == ErrorCode::PeerLost ? " says: " : " failed: ";
  return Error(code, "rank " + std::to_string(reporter) + how + text).with_peer(about);
}

}  // namespace trireme::comm
