// GpuOptions are the command-line options of `trireme bench gpu` and of trireme-bench-gpu, which it
// starts.
//
// Errors:   a setter returns what is wrong with a value, as Command requires.
// Lifetime: values; a Command keeps the options that it fills alive.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/gpu/gpt_size.h"
#include "trireme/cli/command.h"

namespace trireme::bench::gpu {

// What is trained, and for how long.
struct GpuCase {
  std::string model = "124m";
  std::int64_t batch = 0;       // sequences per step; 0: that of the model's GptSize
  std::int64_t context = 1024;  // tokens per sequence
  double max_grad_norm = 0;     // 0: gradients are not clipped
  double seconds = 5;
  bool has_profile = false;  // prints the time per kernel

  std::int64_t sequences() const { return batch > 0 ? batch : gpt_named(model).batch; }
  std::int64_t tokens() const { return sequences() * context; }
};

struct GpuOptions : GpuCase {
  int rounds = 2;
  bool has_peers = false;
  bool is_of_kernels = false;  // measures kernels instead of a case
  std::string json = {};
};

// add_case_options() adds the common options, the other one those of `trireme bench gpu`.
void add_case_options(cli::Command& command, const std::shared_ptr<GpuOptions>& options);
void add_program_options(cli::Command& command, const std::shared_ptr<GpuOptions>& options);

// The arguments that make trireme-bench-gpu run this case.
std::vector<std::string> case_words(const GpuCase& what);
// The same for bench/peers/torch_gpu.py, which knows sizes but no names of models. `mode` is eager
// or compile; `precision` is autocast or weights.
std::vector<std::string> peer_words(const GpuCase& what, const std::string& mode,
                                    const std::string& precision);

}  // namespace trireme::bench::gpu
