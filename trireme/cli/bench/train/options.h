// TrainOptions is what a person asked `trireme bench train` for, or it asked its ranks for: both
// take the same words.
//
// Failure: a setter returns what is wrong with a value, as Command wants it; check() throws
//          InvalidInput for values that do not go together.
// Threads: values; a Command keeps the options that it fills alive.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trireme/cli/command.h"

namespace trireme::cli::bench::train {

struct TrainOptions {
  std::string model = {};  // empty: cnn, or with --bars all of them
  int ranks = 0;           // 0: one, or with --bars as many as there are bars for
  int threads = 0;         // a rank; 0: its share of the cores
  double seconds = 3;
  std::string precision = "float32";
  std::string sync = "auto";
  int every = 0;          // steps of a round, for kinds that agree less often; 0: their default
  bool is_apart = false;  // each rank as if it was on a host of its own
  // Gradients as fewer bytes, by the name of our codec; PyTorch has hooks for fp16, bf16, powersgd.
  std::string codec = "none";
  double wire = 0;  // bits a second between two namespaces with half the ranks each; 0: no wire
  // Ranks may come and go: what one holds is at hand when it dies, its host included.
  bool is_elastic = false;
  std::string json = {};

  // Of the program alone.
  bool has_peers = false;
  bool has_bars = false;
  int scaling = 0;  // ranks up to which; 0: no
  int rounds = 5;

  // Of the ranks alone: whole records, for the program that started them; the network to use.
  bool prints_records = false;
  std::string interface = {};

  void check() const;
  // With what was left open decided, for a run without bars.
  TrainOptions whole() const;
};

// The options that both take, then those of one of them.
void add_case_options(Command& command, const std::shared_ptr<TrainOptions>& options);
void add_program_options(Command& command, const std::shared_ptr<TrainOptions>& options);
void add_rank_options(Command& command, const std::shared_ptr<TrainOptions>& options);

// What makes a rank, or a peer, run this case and report it as a record.
std::vector<std::string> case_words(const TrainOptions& options);

}  // namespace trireme::cli::bench::train
