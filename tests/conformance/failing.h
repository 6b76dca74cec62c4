// Shared by cases that must fail: a sub-group of all ranks that may be broken, and the error it
// ended with.

#pragma once

#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/case.h"

namespace trireme::comm::conformance {

inline Group everybody(const Group& group) {
  std::vector<int> ranks(static_cast<std::size_t>(group.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return group.subgroup(ranks);
}

inline std::optional<Error> error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

inline bool says(const Error& error, const std::string& text) {
  return std::string(error.what()).find(text) != std::string::npos;
}

// Fails unless the error occurred with this code and all of these texts, and unless the group
// throws it again from now on.
inline void expect_end(const Group& ruined, const std::optional<Error>& error, ErrorCode code,
                       const std::vector<std::string>& texts, const std::string& what,
                       Report& report) {
  if (!error) return report.fail(what + ": nothing was thrown");
  const std::string got = ": " + std::string(error->what());
  report.expect(error->code() == code, what + got);
  for (const std::string& text : texts) {
    report.expect(says(*error, text), what + " does not say '" + text + "'" + got);
  }
  for (int time = 0; time < 2; ++time) {
    const auto again = error_of([&] { ruined.barrier().wait(); });
    report.expect(again && std::string(again->what()) == error->what(),
                  what + ": not repeated, but " + (again ? again->what() : "nothing"));
  }
  report.expect(ruined.error().has_value(), what + ": the group does not report its error");
}

}  // namespace trireme::comm::conformance
