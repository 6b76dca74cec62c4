// Options are the command-line options of `trireme bench comm` and of the workers that it starts;
// both accept the same case options.
//
// Errors:   a setter returns what is wrong with a value, as Command requires; check() throws
//           InvalidInput for values that cannot be combined.
// Lifetime: values; a Command keeps the Options that it fills alive.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/comm/record.h"
#include "bench/turns.h"

namespace trireme::bench {

struct Options : Case, TurnOptions {
  std::vector<std::size_t> sizes = {64, 4 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20};
  std::string algorithm = "auto";
  int streams = 1;
  std::string interface = {};

  void check() const;
};

// add_case_options() adds the common options, the other two add those of one program.
void add_case_options(cli::Command& command, const std::shared_ptr<Options>& options);
void add_program_options(cli::Command& command, const std::shared_ptr<Options>& options);
void add_worker_options(cli::Command& command, const std::shared_ptr<Options>& options);

// The command-line arguments that make a worker run these cases.
std::vector<std::string> worker_words(const Options& options);

// "64,4K,1 MiB" -> bytes. Throws InvalidInput.
std::vector<std::size_t> parse_sizes(std::string_view text);

}  // namespace trireme::bench
