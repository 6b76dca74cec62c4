// Announcement is an error that one rank reports to other ranks.
//
//   | error on the reporting rank | error on the receiving ranks                               |
//   | Mismatch                    | Mismatch: requests that differ concern every rank          |
//   | PeerLost                    | PeerLost of the same peer: they cannot continue either     |
//   | any other                   | RemoteFailure of the reporting rank, with its message      |

#pragma once

#include <string>

#include "trireme/base/error.h"

namespace trireme::comm {

struct Announcement {
  ErrorCode code = ErrorCode::RemoteFailure;
  int reporter = 0;  // job rank of the rank that reports the error
  int about = 0;     // job rank of the lost peer; equal to `reporter` if no peer was lost
  std::string text{};

  static Announcement of(const Error& error, int reporter);
  // Whether a rank ever announces this code. Any other code indicates an invalid message.
  static bool is_known(ErrorCode code) noexcept;
  // The error that is thrown on a rank that receives this announcement.
  Error to_error() const;
};

}  // namespace trireme::comm
