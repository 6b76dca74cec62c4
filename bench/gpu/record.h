// GpuRecord is one measured training run on a GPU. It has two forms: a line for people, and a JSON
// line, which --json documents and in which the measured programs report to `trireme bench gpu`.
//
// Thread safety: values and pure functions.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bench/gpu/options.h"

namespace trireme::bench::gpu {

struct GpuRecord {
  GpuCase what{};
  std::string who{};        // "trireme", "pytorch eager" or "pytorch compile"
  std::string precision{};  // how bf16 is used: "autocast" or "weights", with float32 masters
  double seconds_per_step = 0;
  double busy_seconds_per_step = 0;  // in which the GPU ran a kernel; 0: unknown
  // Of a large bf16 matrix product on this GPU, the bound of all others; 0: not measured.
  double bound_flops_per_second = 0;
  std::int64_t steps = 0;
  std::int64_t peak_bytes = 0;  // of the GPU, in tensors
  double first_loss = 0;
  double last_loss = 0;

  double tokens_per_second() const;
  double flops_per_second() const;
  // The share of a step in which the GPU waited for the host; 0 if it is unknown.
  double idle_share() const;
  // Why the training is incorrect; empty if it is correct.
  std::string mistake() const;
};

// The bound is printed as the share of it that a record reaches. 0: unknown.
std::string table_head();
std::string table_line(const GpuRecord& record, double bound_flops_per_second);

// One line, without its newline.
std::string to_json(const GpuRecord& record);
// Returns nullopt for a line that is not a record. What a program leaves out is taken from `what`,
// the case that it was asked to run.
std::optional<GpuRecord> read_record(std::string_view line, const GpuCase& what);

}  // namespace trireme::bench::gpu
