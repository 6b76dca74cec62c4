// Whether two models that answered the same samples differ by more than chance: pure arithmetic
// over what each did with every sample.
//
// Threads: pure; the same seed gives the same interval on every machine.

#pragma once

#include <cstdint>
#include <span>

namespace trireme::train {

// McNemar's test in its exact form: of the samples that only one of two models got right, were it
// a coin's toss which one, how often would they be shared out as unevenly or worse.
struct McNemar {
  std::int64_t only_first = 0;
  std::int64_t only_second = 0;
  double p = 1;  // of both sides; 1 where no sample tells them apart
};

// REQUIRES: as many of both.
McNemar mcnemar(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second);

struct Interval {
  double mean = 0;
  double low = 0;
  double high = 0;
};

struct BootstrapOptions {
  int resamples = 2000;
  double level = 0.95;
  std::uint64_t seed = 1;
};

// The mean of first - second over samples, and where the means of so many draws of as many samples
// lie (with replacement, pairs stay together): between the quantiles that leave out as much below
// as above. REQUIRES: as many of both, at least one.
Interval paired_bootstrap(std::span<const double> first, std::span<const double> second,
                          const BootstrapOptions& options = {});

}  // namespace trireme::train
