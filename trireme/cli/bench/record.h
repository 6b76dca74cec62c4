// Record is one measured case of `trireme bench comm`: what was run, by whom, how fast, against
// which bound, and whether every answer was right.
//
// It has three forms: a line for people, the JSON line that --json promises (op, backend, ranks,
// bytes, symmetric, seconds, bytes_per_second, verified; type, p50, p99, bound and wire, so that no
// two cases look alike), and the whole of it as JSON, by which the workers and the peers report to
// the program that started them.
//
// Threads: values and pure functions.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::cli::bench {

// A rate that nothing of this kind can pass here and now, measured in the same run.
struct BoundRecord {
  std::string name;    // "unsynchronized loads and stores", "memcpy", "raw socket exchange"
  double seconds = 0;  // for the same bytes
};

struct Record {
  std::string op = "all_reduce";
  std::string backend;
  std::string type = "float32";
  int ranks = 0;
  std::size_t bytes = 0;
  bool is_symmetric = false;
  double seconds = 0;  // median a call, of the slowest rank
  double p99 = 0;
  double wire = 0;  // bits a second of the network between the ranks; 0: not known
  bool is_verified = false;
  std::vector<BoundRecord> bounds = {};  // the first is the one to compare with

  double bytes_per_second() const noexcept {
    return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
  }
  // What part of the first bound's rate was reached; nothing where there is no bound.
  std::optional<double> share_of_bound() const noexcept;

  // The same case, whoever ran it and however fast.
  bool is_same_case(const Record& other) const noexcept;
};

std::string table_head();
std::string table_line(const Record& record);

// One line each, without its newline.
std::string to_public_json(const Record& record);
std::string to_json(const Record& record);
// Nothing for a line that holds no record, as programs may print others between.
std::optional<Record> read_record(std::string_view line);

// "64 MiB", "3.71 ms", "18.10 GB/s".
std::string size_text(std::size_t bytes);
std::string time_text(double seconds);
std::string rate_text(double bytes_per_second);

}  // namespace trireme::cli::bench
