#include "bench/gpu/options.h"

#include <fmt/format.h>

#include "trireme/cli/setters.h"

namespace trireme::bench::gpu {
namespace {

std::vector<std::string> common_words(const GpuCase& what) {
  std::vector<std::string> words{"--batch",         std::to_string(what.sequences()),
                                 "--context",       std::to_string(what.context),
                                 "--max-grad-norm", fmt::format("{}", what.max_grad_norm),
                                 "--seconds",       fmt::format("{}", what.seconds)};
  if (what.has_profile) words.emplace_back("--profile");
  return words;
}

}  // namespace

void add_case_options(cli::Command& command, const std::shared_ptr<GpuOptions>& options) {
  GpuOptions& to = *options;
  command.option("--model", cli::joined(gpt_names(), "|"), "size of GPT-2 (default 124m)",
                 cli::one_of("--model", gpt_names(), to.model));
  command.option("--batch", "N", "sequences per step (default 64, 32, 16 or 8, by size)",
                 cli::number<std::int64_t>("--batch", {1, 1 << 16}, to.batch));
  command.option("--context", "N", "tokens per sequence (default 1024)",
                 cli::number<std::int64_t>("--context", {8, 1 << 16}, to.context));
  command.option("--max-grad-norm", "X", "clip gradients at this norm (default 0: no clipping)",
                 cli::number<double>("--max-grad-norm", {0, 1e6}, to.max_grad_norm));
  command.option("--seconds", "S", "duration of each case (default 5)",
                 cli::number<double>("--seconds", {0, 3600}, to.seconds));
  command.flag("--profile", "print the kernels that take most time, and the longest pauses",
               to.has_profile);
  command.flag("--kernels", "measure the memory bandwidth of fused kernels instead",
               to.is_of_kernels);
}

void add_program_options(cli::Command& command, const std::shared_ptr<GpuOptions>& options) {
  command.option("--json", "FILE", "also write one JSON object per case there",
                 cli::set_text(options->json));
  command.flag("--peers", "run PyTorch in turns, eager and compiled, and compare",
               options->has_peers);
  command.option("--rounds", "N",
                 "rounds in which programs that are compared take turns (default 2)",
                 cli::number<int>("--rounds", {1, 1000}, options->rounds));
}

std::vector<std::string> case_words(const GpuCase& what) {
  std::vector<std::string> words = common_words(what);
  words.insert(words.end(), {"--model", what.model});
  return words;
}

std::vector<std::string> peer_words(const GpuCase& what, const std::string& mode,
                                    const std::string& precision) {
  const GptSize& size = gpt_named(what.model);
  std::vector<std::string> words = common_words(what);
  words.insert(words.end(),
               {"--layers", std::to_string(size.layers), "--heads", std::to_string(size.heads),
                "--width", std::to_string(size.width), "--vocabulary", std::to_string(kVocabulary),
                "--mode", mode, "--precision", precision});
  return words;
}

}  // namespace trireme::bench::gpu
