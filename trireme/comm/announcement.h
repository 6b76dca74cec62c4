// Announcement is what an error of one rank is to the others that it is told to.
//
//   | what the speaker has       | what the others get                                     |
//   | Mismatch                   | Mismatch: a difference between requests is everybody's  |
//   | PeerLost                   | PeerLost, of the same peer: they cannot go on either    |
//   | anything else              | RemoteFailure of the speaker, with its text             |

#pragma once

#include <string>

#include "trireme/base/error.h"

namespace trireme::comm {

struct Announcement {
  ErrorCode code = ErrorCode::RemoteFailure;
  int speaker = 0;  // a rank of the job
  int about = 0;    // whom the speaker lost; itself where it lost nobody
  std::string text{};

  static Announcement of(const Error& error, int speaker);
  // Whether announcements of this code are ever made; others come from strangers.
  static bool is_known(ErrorCode code) noexcept;
  // What is thrown to a rank that hears it.
  Error to_error() const;
};

}  // namespace trireme::comm
