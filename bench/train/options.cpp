#include "bench/train/options.h"

#include <unistd.h>

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/cli/setters.h"
#include "trireme/cli/train/worker.h"
#include "trireme/codec/kinds.h"

namespace trireme::bench::train {
namespace {

using cli::checked;
using cli::joined;
using cli::number;
using cli::one_of;
using cli::set_text;

using Names = std::vector<std::string>;

constexpr int kRanksMax = 1024;
constexpr int kEvery = 16;

Names codecs() {
  Names names{"none"};
  for (const codec::CodecKind kind : codec::kCodecKinds) names.emplace_back(codec::name_of(kind));
  return names;
}

// Those of the worker; without one nothing can be trained, and any name will do.
Names strategies() {
  try {
    return cli::Worker().schema().find("sync")->kinds();
  } catch (const Error&) {
    return {};
  }
}

bool has_rounds(const std::string& sync) {
  return sync == "local" || sync == "diloco";
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::InvalidInput, why);
}

}  // namespace

void TrainOptions::check() const {
  if (ranks == 1 && sync != "auto") {
    refuse("--sync " + sync + " requires several ranks; add --ranks 2");
  }
  if (is_apart && sync == "shared") {
    refuse("--sync shared needs ranks that share memory, which --apart keeps them from");
  }
  if (wire > 0 && (ranks == 0 || ranks % 2 != 0)) {
    refuse("--wire is between two namespaces with half the ranks each: --ranks 2, or 4");
  }
  if (is_elastic && wire > 0 && ranks < 4) {
    refuse("--elastic over a --wire is about hosts with several ranks each: --ranks 4");
  }
  if (is_elastic && (ranks < 2 || codec != "none" || is_apart || has_peers)) {
    refuse("--elastic is for --ranks 2 or more, without --codec, --apart and --peers");
  }
  const bool is_sent =
      sync == "auto" || sync == "all_reduce" || sync == "delayed" || has_rounds(sync);
  if (codec != "none" && (ranks == 1 || !is_sent)) {
    refuse("--codec is for gradients that ranks send each other: --ranks 2 --sync all_reduce");
  }
  if (every > 0 && !has_rounds(sync)) {
    refuse("--every is the length of rounds: --sync local, or diloco");
  }
  if (scaling > 0 && (has_bars || has_peers || ranks != 0)) {
    refuse("--scaling runs 1 to N ranks of ours; it goes with neither --ranks, --peers nor --bars");
  }
  const bool is_plain = precision == "float32" && codec == "none" && wire == 0 && !is_elastic;
  if (has_bars && (sync != "auto" || !is_plain || is_apart)) {
    refuse("--bars decides by itself what to run; --model and --ranks choose among its cases");
  }
}

TrainOptions TrainOptions::whole() const {
  TrainOptions all = *this;
  if (all.model.empty()) all.model = "cnn";
  if (all.ranks == 0) all.ranks = 1;
  if (all.every == 0 && has_rounds(all.sync)) all.every = kEvery;
  if (all.threads == 0) {
    const auto cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
    all.threads = std::max(1, cores / all.ranks);
  }
  return all;
}

void add_case_options(cli::Command& command, const std::shared_ptr<TrainOptions>& options) {
  TrainOptions& to = *options;
  const Names models{"cnn", "mlp", "gpt-nano", "gpt-mini", "gpt-wide"};
  const Names precisions{"float32", "bf16"};
  command.option("--model", joined(models, "|"), "what to train (default cnn)",
                 one_of("--model", models, to.model));
  command.option("--ranks", "N", "number of ranks (default 1)",
                 number<int>("--ranks", {1, kRanksMax}, to.ranks));
  command.option("--threads", "T", "threads per rank (default: its share of the cores)",
                 number<int>("--threads", {1, 1024}, to.threads));
  add_seconds(command, to.seconds);
  command.option("--precision", joined(precisions, "|"),
                 "precision of forward and backward (default float32)",
                 one_of("--precision", precisions, to.precision));
  const Names all = strategies();
  command.option("--sync", "STRATEGY",
                 "the synchronization strategy, as in sync.kind (default auto)",
                 all.empty() ? set_text(to.sync) : one_of("--sync", all, to.sync));
  command.option("--every", "STEPS", "steps per round of --sync local and diloco (default 16)",
                 number<int>("--every", {1, 100000}, to.every));
  command.flag("--apart", "ranks share no memory, as if each were on a host of its own",
               to.is_apart);
  command.option("--codec", joined(codecs(), "|"), "codec that compresses gradients (default none)",
                 one_of("--codec", codecs(), to.codec));
  command.option(
      "--wire", "BITS",
      "half the ranks in one network namespace, half in another, with a link of this many bits per "
      "second between them; root only",
      number<double>("--wire", {1e5, 1e15}, to.wire));
  command.flag("--elastic",
               "an elastic job, on several hosts with --wire; alternates with a job of fixed size",
               to.is_elastic);
}

void add_program_options(cli::Command& command, const std::shared_ptr<TrainOptions>& options) {
  add_turn_options(command, *options, "PyTorch");
  command.option("--scaling", "N", "1 to N ranks in turns, one thread each; ends with a table",
                 number<int>("--scaling", {1, kRanksMax}, options->scaling));
}

void add_rank_options(cli::Command& command, const std::shared_ptr<TrainOptions>& options) {
  command.option("--interface", "NAME", "the network interface", set_text(options->interface));
}

std::vector<std::string> case_words(const TrainOptions& options) {
  std::vector<std::string> words{"--model",     options.model,
                                 "--ranks",     std::to_string(options.ranks),
                                 "--threads",   std::to_string(options.threads),
                                 "--seconds",   fmt::format("{}", options.seconds),
                                 "--precision", options.precision,
                                 "--sync",      options.sync};
  if (options.every > 0) words.insert(words.end(), {"--every", std::to_string(options.every)});
  if (options.is_apart) words.emplace_back("--apart");
  if (options.is_elastic) words.emplace_back("--elastic");
  if (options.codec != "none") words.insert(words.end(), {"--codec", options.codec});
  if (options.wire > 0) {
    words.insert(words.end(), {"--wire", fmt::format("{:.0f}", options.wire)});
  }
  return words;
}

}  // namespace trireme::bench::train
