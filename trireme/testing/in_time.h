// expect_in_time() is the assertion of tests that measure: a failure says how long it took, and how
// long it may, and is one that a second chance may mend (second_chance.h). Times are asserted with
// nothing else.
//
// Threads: any that GoogleTest's assertions may be used on.

#pragma once

#include <chrono>
#include <source_location>
#include <string_view>

namespace trireme::testing {

// Of any clock's durations, whole or not.
using Seconds = std::chrono::duration<double>;

// What such a failure begins with.
inline constexpr std::string_view kTooLate = "TOO LATE: ";

// `what` says what was measured, where the line does not.
void expect_in_time(Seconds elapsed, Seconds limit, std::string_view what = {},
                    std::source_location where = std::source_location::current());

}  // namespace trireme::testing
