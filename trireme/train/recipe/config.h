// The settings of [train], [eval] and [checkpoint].
//
// Thread safety: values.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/base/config/fields.h"
#include "trireme/checkpoint/format/seal.h"

namespace trireme::train {

enum class Precision { Float32, BFloat16, Float16 };

// What happens if a loss or a gradient is NaN or infinite.
enum class NonFinite {
  Stop,      // the job ends and names the layer; the last checkpoint does not change
  Skip,      // the step makes no update
  Rollback,  // restores the last checkpoint, and continues after the samples of the step
};

struct TrainConfig {
  std::int64_t batch = 64;
  double epochs = 1;
  std::optional<std::int64_t> steps;
  std::uint64_t seed = 1;
  int logical_ranks = 0;
  int accumulate = 1;
  int threads = 0;
  std::string device = "cpu";
  Precision precision = Precision::Float32;
  std::vector<std::string> module_precision = {};  // NOLINT(readability-redundant-member-init)
  std::int64_t fp32_steps = 0;
  std::int64_t fallback_steps = 0;
  double fallback_jump = 6;
  NonFinite non_finite = NonFinite::Stop;
  int non_finite_max = 10;
  std::int64_t log_every = 0;

  static void describe(config::Fields<TrainConfig>& f);
};

struct EvalConfig {
  std::int64_t every = 0;
  std::int64_t batch = 256;
  std::string metric = "loss";
  int patience = 0;

  static void describe(config::Fields<EvalConfig>& f);
};

enum class Compression { None, Zstd };

struct CheckpointConfig {
  std::int64_t every = 0;
  int keep = 2;
  bool is_best_kept = true;
  Compression compress = Compression::None;
  int compress_level = 1;
  std::filesystem::path key_file = {};  // NOLINT(readability-redundant-member-init)
  bool is_unauthenticated_allowed = false;

  static void describe(config::Fields<CheckpointConfig>& f);
};

// How the job's checkpoints are written, and which checkpoints may be read. Reads the key file if
// there is one. allow_unauthenticated counts only if the user gives it as an override, because the
// config.toml in a job's folder is not signed.
checkpoint::format::Sealing sealing_of(const config::Config& config);

// Whether larger values of the metric are better.
bool is_larger_better(const std::string& metric);

}  // namespace trireme::train
