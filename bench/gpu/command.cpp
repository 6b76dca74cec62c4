#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "bench/commands.h"
#include "bench/gpu/record.h"
#include "bench/launch.h"
#include "bench/turns.h"
#include "trireme/base/error.h"
#include "trireme/cli/json_file.h"

namespace trireme::bench::gpu {
namespace {

// Includes the time that PyTorch takes to compile.
constexpr auto kTimeMax = std::chrono::minutes(10);

// By the label of a contender: its rounds.
using Rounds = std::map<std::string, std::vector<GpuRecord>>;

Contender ours(const GpuOptions& options) {
  const std::filesystem::path program = beside("trireme-bench-gpu");
  if (program.empty()) {
    throw Error(ErrorCode::NotFound, "trireme-bench-gpu is not beside " +
                                         beside("trireme").string() +
                                         "; it is part of a build with torch and TRIREME_TESTS=ON");
  }
  Contender contender{.label = kOurs, .program = {{program.string()}}, .time_max = kTimeMax};
  const auto words = case_words(options);
  contender.program.words.insert(contender.program.words.end(), words.begin(), words.end());
  return contender;
}

// PyTorch, eager and compiled, with both ways to use bfloat16.
std::vector<Contender> peers(const GpuOptions& options) {
  std::vector<Contender> all;
  if (!options.has_peers) return all;
  const std::filesystem::path program = beside("bench/peers/torch_gpu");
  if (program.empty()) {
    std::fputs("SKIPPED: no PyTorch: CMake found no Python with torch (make setup)\n", stderr);
    return all;
  }
  for (const char* mode : {"eager", "compile"}) {
    for (const char* precision : {"autocast", "weights"}) {
      Contender contender{.who = std::string("pytorch ") + mode,
                          .label = std::string("pytorch ") + mode + ", " + precision,
                          .program = {{program.string()}},
                          .time_max = kTimeMax,
                          .may_fail = true};
      const auto words = peer_words(options, mode, precision);
      contender.program.words.insert(contender.program.words.end(), words.begin(), words.end());
      all.push_back(std::move(contender));
    }
  }
  return all;
}

const GpuRecord& fastest(const std::vector<GpuRecord>& rounds) {
  return *std::ranges::min_element(rounds, {}, &GpuRecord::seconds_per_step);
}

// The contenders whose fastest round is the fastest of all with their name.
std::vector<Contender> best_of_each(const std::vector<Contender>& all, const Rounds& rounds) {
  std::map<std::string, Contender> best;
  for (const Contender& one : all) {
    if (!rounds.contains(one.label)) continue;
    const auto found = best.find(one.who);
    const bool is_faster =
        found == best.end() || fastest(rounds.at(one.label)).seconds_per_step <
                                   fastest(rounds.at(found->second.label)).seconds_per_step;
    if (is_faster) best.insert_or_assign(one.who, one);
  }
  std::vector<Contender> kept;
  for (const Contender& one : all) {
    const auto found = best.find(one.who);
    if (found != best.end() && found->second.label == one.label) kept.push_back(one);
  }
  return kept;
}

bool run_rounds(const std::vector<Contender>& contenders, int count, const GpuCase& what,
                Rounds& rounds) {
  Turns turns;
  for (const Contender& one : contenders) turns.add(one);
  return turns.run(count, [&](const Contender& contender, std::string_view line) {
    const auto record = read_record(line, what);
    if (record) rounds[contender.label].push_back(*record);
    return record.has_value();
  });
}

// Returns whether all of them trained correctly.
bool print(const std::vector<Contender>& contenders, const Rounds& rounds, const cli::File& json) {
  const GpuRecord& mine = fastest(rounds.at(kOurs));
  bool is_right = true;
  std::printf("%s, %lld x %lld tokens; bound: %.0f TFLOP/s, a large bf16 matrix product\n%s\n",
              mine.what.model.c_str(), static_cast<long long>(mine.what.sequences()),
              static_cast<long long>(mine.what.context), mine.bound_flops_per_second / 1e12,
              table_head().c_str());
  for (const Contender& one : contenders) {
    if (!rounds.contains(one.label)) continue;
    const GpuRecord& record = fastest(rounds.at(one.label));
    std::puts(table_line(record, mine.bound_flops_per_second).c_str());
    cli::write_line(json, to_json(record));
    is_right &= record.mistake().empty();
  }
  for (const Contender& peer : best_of_each(contenders, rounds)) {
    if (peer.who == kOurs) continue;
    std::printf("trireme: %.2f x %s, best against best\n",
                mine.tokens_per_second() / fastest(rounds.at(peer.label)).tokens_per_second(),
                peer.label.c_str());
  }
  return is_right;
}

int run(const GpuOptions& options) {
  if (options.is_of_kernels) return cli::become_beside("trireme-bench-gpu", {"--kernels"});
  const cli::File json = cli::open_json(options.json);
  std::vector<Contender> contenders{ours(options)};
  for (Contender& peer : peers(options)) contenders.push_back(std::move(peer));
  const int count = contenders.size() > 1 ? options.rounds : 1;
  Rounds rounds;
  // After the first round only the faster precision of each peer takes part.
  if (!run_rounds(contenders, 1, options, rounds)) return kExitInterrupted;
  const std::vector<Contender> kept = best_of_each(contenders, rounds);
  if (count > 1 && !run_rounds(kept, count - 1, options, rounds)) return kExitInterrupted;
  return print(contenders, rounds, json) ? 0 : 1;
}

}  // namespace

cli::Command gpu_command() {
  cli::Command command("bench gpu", "Measure training of GPT-2 on one GPU, compared with PyTorch",
                       "trireme bench gpu --model 124m --peers");
  const auto options = std::make_shared<GpuOptions>();
  add_case_options(command, options);
  add_program_options(command, options);
  command.action([options] { return run(*options); });
  return command;
}

}  // namespace trireme::bench::gpu
