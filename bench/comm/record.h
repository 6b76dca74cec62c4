// CommRecord is one measured case of `trireme bench comm`: the operation, its speed, the bounds it
// is compared with, and whether every result was correct.
//
// It has three forms: a line for people; the JSON line that --json documents; and a complete JSON
// form, in which workers and peers report to the program that started them.
//
// Thread safety: values and pure functions.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::bench {

// An upper bound for the rate on this machine, measured in the same run.
struct BoundRecord {
  std::string name;    // "unsynchronized loads and stores", "memcpy", "raw socket exchange"
  double seconds = 0;  // for the same number of bytes
};

// What runs, for messages of any size.
struct Case {
  std::string backend = "shm";
  std::string op = "all_reduce";
  std::string type = "float32";
  int ranks = 2;
  bool is_symmetric = false;
  double wire = 0;  // bits per second of the network between the ranks; 0: unknown

  bool operator==(const Case&) const = default;
};

struct CommRecord : Case {
  std::size_t bytes = 0;
  double seconds = 0;  // median per call, of the slowest rank
  double p99 = 0;
  bool is_verified = false;
  std::vector<BoundRecord> bounds = {};  // the result is compared with the first one

  double bytes_per_second() const noexcept {
    return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
  }
  // The fraction of the first bound's rate that was reached; nullopt if there is no bound.
  std::optional<double> share_of_bound() const noexcept;

  // Whether both are the same case, independent of the contender and the speed.
  bool is_same_case(const CommRecord& other) const noexcept;
};

std::string table_head();
std::string table_line(const CommRecord& record);

// One line each, without its newline.
std::string to_public_json(const CommRecord& record);
std::string to_json(const CommRecord& record);
// Returns nullopt for a line that is not a record; programs may print other lines in between.
std::optional<CommRecord> read_record(std::string_view line);

// "64 MiB", "3.71 ms", "18.10 GB/s".
std::string size_text(std::size_t bytes);
std::string time_text(double seconds);
std::string rate_text(double bytes_per_second);

}  // namespace trireme::bench
