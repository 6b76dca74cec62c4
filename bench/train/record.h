// TrainRecord is one measured training run: the entrant, the case, the speed, the time per phase of
// a step and the memory.
//
// It has two forms: a line for people and a JSON line, which --json documents and in which ranks
// and peers report to the program that started them.
//
// scaling_table() shows how training scales with the number of ranks, and what limits the scaling.
// Efficiency is the throughput of N ranks divided by N times the throughput of one rank. Lost
// efficiency shows as time that a step takes longer than with one rank, per phase: forward and
// backward if ranks share memory bandwidth, caches or cores; wait if they wait for each other.
//
// Thread safety: values and pure functions.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trireme/train/report/step_times.h"

namespace trireme::bench::train {

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
  // Per step, the mean over all ranks. Peers do not report it.
  trireme::train::StepTimes parts = {};
  // Duration of the communication when it does not overlap with computation; 0: none, or unknown.
  double communication_seconds = 0;
  bool is_verified = false;  // loss finite and falling, weights of all ranks equal
};

// The share of the communication that overlapped with computation, so that no rank waited for it.
double hidden_share(const TrainRecord& record);

std::string table_head();
std::string table_line(const TrainRecord& record);
// REQUIRES: `records` is not empty and begins with one rank.
std::string scaling_table(std::span<const TrainRecord> records, int cores);

// One line, without its newline.
std::string to_json(const TrainRecord& record);
// Returns nullopt for a line that is not a record; programs may print other lines in between.
std::optional<TrainRecord> read_record(std::string_view line);

}  // namespace trireme::bench::train
