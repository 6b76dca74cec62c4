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

#include "bench/train/record.h"
#include "bench/turns.h"

namespace trireme::bench::train {

struct TrainOptions : TrainCase, TurnOptions {
  int every = 0;               // steps per round of local-update methods; 0: their default
  int scaling = 0;             // largest number of ranks to measure; 0: do not measure scaling
  std::string interface = {};  // of the network; only for the ranks

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
