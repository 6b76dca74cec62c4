// TrainRecord is one measured training run: the entrant, the case, the speed, the time per phase of
// a step and the memory.
//
// It has two forms: a line for people and a JSON line, which --json documents and in which ranks
// and peers report to the program that started them.
//
// Thread safety: values and pure functions.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trireme::bench::train {

// Seconds per step that each phase takes, the mean over all ranks. Peers do not report it.
struct StepParts {
  double data = 0;
  double forward = 0;
  double backward = 0;
  double wait = 0;  // for other ranks
  double update = 0;

  double total() const noexcept { return data + forward + backward + wait + update; }
};

// What is trained, and how.
struct TrainCase {
  std::string model = {};  // empty: cnn, or with --bars all models
  int ranks = 0;           // 0: one, or with --bars every number of ranks that has a bar
  int threads = 0;         // per rank; 0: its share of the cores
  std::string precision = "float32";
  std::string sync = "auto";  // of a record: the one that auto selected, or a peer's name for it
  bool is_apart = false;      // each rank behaves as if it were on its own host
  // Elastic training: the state of a rank can be recovered if the rank or its host fails.
  bool is_elastic = false;
  // Gradient compression, by the name of Trireme's codec; PyTorch has hooks for fp16, bf16,
  // powersgd.
  std::string codec = "none";
  // Bits per second between two network namespaces with half the ranks each; 0: no such link.
  double wire = 0;
};

struct TrainRecord : TrainCase {
  std::string who{};          // "trireme" or "pytorch"
  double bytes_per_step = 0;  // sent per rank, as its codec counts them; 0: unknown
  // Bytes on the link from the first rank's side, including headers, as the kernel counts them; 0:
  // no such link.
  double wire_bytes_per_step = 0;
  double units_per_second = 0;  // over all ranks
  std::string unit{};           // "images" or "tokens"
  double seconds_per_step = 0;
  // Of all threads of all ranks. Stays comparable if other load slows the machine down.
  double cpu_seconds_per_step = 0;
  std::int64_t steps = 0;
  std::int64_t peak_bytes = 0;  // resident, of the rank that used most
  std::int64_t pss_bytes = 0;   // proportional set sizes after the last step, summed over ranks
  StepParts parts = {};
  // Duration of the communication when it does not overlap with computation; 0: none, or unknown.
  double communication_seconds = 0;
  bool is_verified = false;  // loss finite and falling, weights of all ranks equal
};

// The share of the communication that overlapped with computation, so that no rank waited for it.
double hidden_share(const TrainRecord& record);

std::string table_head();
std::string table_line(const TrainRecord& record);

// One line, without its newline.
std::string to_json(const TrainRecord& record);
// Returns nullopt for a line that is not a record; programs may print other lines in between.
std::optional<TrainRecord> read_record(std::string_view line);

}  // namespace trireme::bench::train
