// TrainRecord is one measured training: what was trained, by whom, how fast, where a step's time
// went and how much memory it took.
//
// It has two forms: a line for people and a JSON line, which --json promises and by which ranks and
// peers report to the program that started them.
//
// Threads: values and pure functions.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trireme::cli::bench::train {

// Where a step's time went, in seconds a step, the mean over all ranks. Peers do not say.
struct StepParts {
  double data = 0;
  double forward = 0;
  double backward = 0;
  double wait = 0;  // for other ranks
  double update = 0;

  double total() const noexcept { return data + forward + backward + wait + update; }
};

struct TrainRecord {
  std::string who;  // "trireme" or "pytorch"
  std::string model;
  int ranks = 1;
  int threads = 1;  // a rank
  std::string precision = "float32";
  std::string sync = "none";  // what auto came to; of a peer what it calls it
  bool is_apart = false;
  bool is_elastic = false;
  std::string codec = "none";
  double wire = 0;            // bits a second between the ranks; 0: no wire
  double bytes_per_step = 0;  // that a rank sends, as its codec counts them; 0: not said
  // What crosses the wire from the first rank's side, headers and all, as the kernel counts it; 0:
  // there is no wire.
  double wire_bytes_per_step = 0;
  double units_per_second = 0;  // over all ranks
  std::string unit;             // "images" or "tokens"
  double seconds_per_step = 0;
  // Of all threads of all ranks: what is left to compare by where other work slows the machine.
  double cpu_seconds_per_step = 0;
  std::int64_t steps = 0;
  std::int64_t peak_bytes = 0;  // resident, of the rank that took most
  std::int64_t pss_bytes = 0;   // proportional set sizes at the end of the steps, summed over ranks
  StepParts parts = {};
  // What the ranks' exchange takes with nothing to hide behind; 0: none, or not said.
  double communication_seconds = 0;
  bool is_verified = false;  // loss finite and falling, weights of all ranks equal
};

// The share of the exchange for which nobody waited.
double hidden_share(const TrainRecord& record);

std::string table_head();
std::string table_line(const TrainRecord& record);

// One line, without its newline.
std::string to_json(const TrainRecord& record);
// Nothing for a line that holds no record, as programs may print others between.
std::optional<TrainRecord> read_record(std::string_view line);

}  // namespace trireme::cli::bench::train
