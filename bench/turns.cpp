#include "bench/turns.h"

#include <cstdio>

#include "trireme/base/error.h"
#include "trireme/cli/setters.h"

namespace trireme::bench {

void add_turn_options(cli::Command& command, TurnOptions& to, const std::string& peers) {
  command.option("--json", "FILE", "also write one JSON object per case there",
                 cli::set_text(to.json));
  command.flag("--peers", "run " + peers + " in turns, and compare", to.has_peers);
  command.flag("--bars", "run every case that has a target (a bar); ends with the table of bars",
               to.has_bars);
  command.option("--rounds", "N",
                 "rounds in which programs that are compared take turns (default 5)",
                 cli::number<int>("--rounds", {1, 1000}, to.rounds));
}

void add_seconds(cli::Command& command, double& seconds) {
  command.option("--seconds", "S", "duration of each case (default 3)",
                 cli::number<double>("--seconds", {0.0, 3600}, seconds));
}

std::string_view without_rank(std::string_view line) noexcept {
  if (!line.starts_with('[')) return line;
  const std::size_t end = line.find_first_not_of("0123456789", 1);
  if (end == 1 || end == std::string_view::npos || line.substr(end, 2) != "] ") return line;
  return line.substr(end + 2);
}

bool Turns::run(int rounds, const Take& take) const {
  std::vector<bool> is_out(contenders_.size(), false);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
      const Contender& contender = contenders_[i];
      const bool is_over = contender.rounds != 0 && round >= contender.rounds;
      if (is_out[i] || is_over) continue;
      if (rounds > 1) {
        std::fprintf(stderr, "round %d of %d: %s\n", round + 1, rounds, contender.label.c_str());
      }
      const Outcome outcome = run_one(contender, take);
      if (outcome == Outcome::Interrupted) return false;
      is_out[i] = outcome == Outcome::GivenUp;
    }
  }
  return true;
}

Turns::Outcome Turns::run_one(const Contender& contender, const Take& take) {
  int results = 0;
  const auto end = cli::run_program(
      contender.program, Deadline::after(contender.time_max), [&](std::string_view line) {
        if (take(contender, without_rank(line)))
          ++results;
        else
          std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
      });
  if (end.is_interrupted) return Outcome::Interrupted;
  if (end.code == 0 && results != 0) return Outcome::Ended;
  const std::string why = contender.label + " ended with exit code " + std::to_string(end.code) +
                          " and " + std::to_string(results) + " results";
  if (!contender.may_fail) throw Error(ErrorCode::Io, why);
  std::fprintf(stderr, "SKIPPED: %s\n", why.c_str());
  return Outcome::GivenUp;
}

}  // namespace trireme::bench
