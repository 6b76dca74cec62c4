// The error text and exit status of a program that an exception terminates.
//
// exit_status(): 2 for a user error (InvalidInput, NotFound): nothing was changed, and the same
//                command fails again until the user changes it. 1 otherwise.
// as_error():    converts any exception to an Error. A path that the system rejects becomes
//                InvalidInput or NotFound, with the path and a remedy; other system errors become
//                Io or Exhausted; running out of memory becomes Exhausted.
//
// Thread safety: pure functions; any thread may call them.

#pragma once

#include <exception>

#include "trireme/base/error.h"

namespace trireme {

inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;

bool is_users_mistake(ErrorCode code) noexcept;
int exit_status(const Error& error) noexcept;

Error as_error(const std::exception& thrown);

}  // namespace trireme
