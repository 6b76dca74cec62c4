#include "trireme/testing/in_time.h"

#include <gtest/gtest.h>

namespace trireme::testing {
namespace {

double milliseconds_of(Seconds duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

void expect_in_time(Seconds elapsed, Seconds limit, std::string_view what,
                    std::source_location where) {
  if (elapsed < limit) return;
  ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line()))
      << kTooLate << what << (what.empty() ? "" : ": ") << milliseconds_of(elapsed)
      << " ms, and it has " << milliseconds_of(limit) << " ms";
}

}  // namespace trireme::testing
