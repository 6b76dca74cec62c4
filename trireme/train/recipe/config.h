// The settings of [train], [eval] and [checkpoint]: how long, how much at once, how exactly, and
// what is looked at and kept on the way.

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

// What happens where a loss or a gradient is not a number, or infinite.
enum class NonFinite {
  Stop,      // the job ends and names the layer; the last checkpoint is untouched
  Skip,      // the step's gradients are thrown away
  Rollback,  // back to the last checkpoint, past the samples that did it
};

struct TrainConfig {
  std::int64_t batch = 64;
  double epochs = 1;
  std::optional<std::int64_t> steps;
  std::uint64_t seed = 1;
  int virtual_ranks = 0;
  int accumulate = 1;
  int threads = 0;
  Precision precision = Precision::Float32;
  std::vector<std::string> module_precision = {};  // NOLINT(readability-redundant-member-init)
  std::int64_t float32_steps = 0;
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

// How the job's checkpoints are written and what is required of those that are read; reads the
// key's file where there is one. allow_unauthenticated counts only where the user gives it as an
// override: the config.toml of a job's folder is not signed and could say anything.
checkpoint::format::Sealing sealing_of(const config::Config& config);

// Whether more of it is better.
bool is_larger_better(const std::string& metric);

}  // namespace trireme::train
