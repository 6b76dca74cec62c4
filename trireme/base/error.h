// Error is the one exception type of Trireme.
//
// The code alone decides what a caller does next (see consequence_of); the rest is for people:
// which rank speaks, about which peer, in which operation, and why. Codes are closed: a new one
// is added here, with its consequence, or not at all.
//
// Threads: an Error is a value; copies are independent.

#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace trireme {

enum class ErrorCode : unsigned char {
  Misuse,           // the calling program broke a stated requirement
  InvalidInput,     // a user's file, flag or setting is wrong; nothing was touched
  NotFound,         // a named thing does not exist
  Mismatch,         // two ranks asked for, or are, different things
  PeerLost,         // a peer died, closed or was cut off
  Deadline,         // a wait ended by its deadline
  Aborted,          // ended from outside, with a cause
  RemoteFailure,    // another rank threw; its text is the message
  Unauthenticated,  // a peer could not prove that it belongs to the job
  Protocol,         // bytes that no correct peer sends
  Unreachable,      // no connection could be made
  Exhausted,        // memory, disk, descriptors or a stated bound ran out
  Corrupt,          // stored data does not match its checksum or form
  Io,               // the operating system refused
  Unsupported,      // this build, backend or kernel cannot do it
  Diverged,         // training came to a number that is not finite
};

inline constexpr int kErrorCodeCount = 16;

// What the holder of an error should do.
enum class Consequence {
  Retry,    // the same call may succeed later
  Rebuild,  // make a new group or connection, then go on
  Restart,  // this process has to be replaced
  Stop,     // a person has to change something
};

std::string_view name_of(ErrorCode code) noexcept;
std::string_view name_of(Consequence consequence) noexcept;
Consequence consequence_of(ErrorCode code) noexcept;

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string message);

  // Each returns a copy that also says this; the text of what() is rebuilt.
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

  // "rank 2: all_reduce: peer 3: <message> [PeerLost] (cause: ...)", absent parts left out.
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

// An Io (or Exhausted, where errno says so) error whose message ends in the text of `error_number`.
Error system_error(std::string_view what, int error_number);

}  // namespace trireme
