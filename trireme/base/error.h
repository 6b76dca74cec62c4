// Error is the exception type of Trireme.
//
// The code alone decides what a caller does next; docs/errors.md says what. The other fields are
// for people: the rank that reports the error, the peer it concerns, the operation, and the cause.
// The set of codes is closed: a new code must be added here and to that page.
//
// Thread safety: a value type; copies are independent.

#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace trireme {

enum class ErrorCode : unsigned char {
  Misuse,           // the calling program violated a documented requirement
  InvalidInput,     // a user's file, flag or setting is wrong; nothing was changed
  NotFound,         // a named object does not exist
  Mismatch,         // two ranks requested different operations, or are incompatible
  PeerLost,         // a peer died, closed its connection or was disconnected
  Deadline,         // a wait reached its deadline
  Aborted,          // cancelled from outside, with a cause
  RemoteFailure,    // another rank threw; the message is that rank's error text
  Unauthenticated,  // a peer could not prove that it belongs to the job
  Protocol,         // received bytes that no correct peer sends
  Unreachable,      // no connection could be made
  Exhausted,        // memory, disk, descriptors or a configured limit ran out
  Corrupt,          // stored data does not match its checksum or format
  Io,               // the operating system returned an error
  Unsupported,      // this build, backend or kernel does not support it
  Diverged,         // training produced a number that is not finite
};

inline constexpr int kErrorCodeCount = 16;

std::string_view name_of(ErrorCode code) noexcept;

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string message);

  // Each function returns a copy with this field set and the text of what() rebuilt.
  Error with_rank(int rank) const;
  Error with_peer(int peer) const;
  Error with_operation(std::string_view operation) const;
  Error with_cause(std::string_view cause) const;

  ErrorCode code() const noexcept { return code_; }
  std::optional<int> rank() const noexcept { return rank_; }
  std::optional<int> peer() const noexcept { return peer_; }
  const std::string& operation() const noexcept { return operation_; }
  const std::string& message() const noexcept { return message_; }
  const std::string& cause() const noexcept { return cause_; }

  // "rank 2: all_reduce: peer 3: <message> [PeerLost] (cause: ...)"; unset fields are omitted.
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  void rebuild_text();

  ErrorCode code_;
  std::string message_;
  std::optional<int> rank_;
  std::optional<int> peer_;
  std::string operation_;
  std::string cause_;
  std::string text_;
};

// An Io error (Exhausted if errno indicates it) whose message ends with the text of `error_number`.
Error system_error(std::string_view what, int error_number);

}  // namespace trireme
