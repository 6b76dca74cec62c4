// What a program says and returns where an exception ends it.
//
// exit_status(): 2 where the mistake is the user's (InvalidInput, NotFound): nothing was touched,
//                and the same command fails again until somebody changes it. 1 otherwise.
// as_error():    any exception as an Error: a path that the system refuses as InvalidInput or
//                NotFound, with the path and what to do; other refusals as Io or Exhausted; a lack
//                of memory as Exhausted.
//
// Threads: pure.

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
