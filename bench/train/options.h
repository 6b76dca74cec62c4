// TrainOptions are the command-line options of `trireme bench train` and of the ranks that it
// starts; both accept the same case options.
//
// Errors:   a setter returns what is wrong with a value, as Command requires; check() throws
//           InvalidInput for values that cannot be combined.
// Lifetime: values; a Command keeps the options that it fills alive.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trireme/cli/command.h"

namespace trireme::bench::train {

struct TrainOptions {
  std::string model = {};  // empty: cnn, or with --bars all models
  int ranks = 0;           // 0: one, or with --bars every number of ranks that has a bar
  int threads = 0;         // per rank; 0: its share of the cores
  double seconds = 3;
  std::string precision = "float32";
  std::string sync = "auto";
  int every = 0;          // steps per round of local-update methods; 0: their default
  bool is_apart = false;  // each rank behaves as if it were on its own host
  // Gradient compression, by the name of Trireme's codec; PyTorch has hooks for fp16, bf16,
  // powersgd.
  std::string codec = "none";
  // Bits per second between two network namespaces with half the ranks each; 0: no such link.
  double wire = 0;
  // Elastic training: the state of a rank can be recovered if the rank or its host fails.
  bool is_elastic = false;
  std::string json = {};

  // Only for the program that the user starts.
  bool has_peers = false;
  bool has_bars = false;
  int scaling = 0;  // largest number of ranks to measure; 0: do not measure scaling
  int rounds = 5;

  // Only for the ranks: print complete JSON records for the program that started them, and the
  // network interface.
  bool prints_records = false;
  std::string interface = {};

  void check() const;
  // Replaces unset values with their defaults, for a run without bars.
  TrainOptions whole() const;
};

// add_case_options() adds the common options, the other two add those of one program.
void add_case_options(cli::Command& command, const std::shared_ptr<TrainOptions>& options);
void add_program_options(cli::Command& command, const std::shared_ptr<TrainOptions>& options);
void add_rank_options(cli::Command& command, const std::shared_ptr<TrainOptions>& options);

// The command-line arguments that make a rank, or a peer, run this case and report it as a record.
std::vector<std::string> case_words(const TrainOptions& options);

}  // namespace trireme::bench::train
