// JobProgress is the progress of a running job, read from the last training line of its
// metrics.jsonl.
//
// Errors:        nullopt if there is no such file or it has no training line.
// Thread safety: pure functions.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace trireme::cli {

struct JobProgress {
  std::int64_t step = 0;
  double loss = 0;
  double speed = 0;  // units per second
  std::string unit;  // "samples" or "tokens"
  std::filesystem::path output{};
  std::optional<double> time{};  // seconds since 1970, where the line says it

  // Nothing where the last line is from before `since`: it belongs to a run that was resumed.
  static std::optional<JobProgress> latest(const std::filesystem::path& output, double since = 0);
  // An event of `trireme watch`.
  std::string to_json() const;
};

}  // namespace trireme::cli
