// Turns runs several contenders one after another, for several rounds, and passes on the lines that
// they print.
//
// The contenders take turns because the speed of a machine varies over time: results that are
// compared come from runs next to each other.
//
// Errors:        a contender that fails or prints no result is an Error. If it may fail, the
//                failure is reported once on standard error and the contender is skipped in the
//                following rounds.
// Thread safety: one thread.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/cli/command.h"
#include "trireme/cli/program.h"

namespace trireme::bench {

// The name of Trireme among the contenders.
inline constexpr const char* kOurs = "trireme";

struct Contender {
  std::string who = kOurs;
  std::string label;  // for people: "gloo, 2 ranks"
  cli::Program program;
  Duration time_max = std::chrono::minutes(10);
  int rounds = 0;  // 0: all rounds
  bool may_fail = false;
};

// The options of a benchmark whose contenders take turns.
struct TurnOptions {
  double seconds = 3;
  std::string json = {};
  bool has_peers = false;
  bool has_bars = false;
  int rounds = 5;
};
// `peers` is the text of their names. `to` must outlive the command.
void add_turn_options(cli::Command& command, TurnOptions& to, const std::string& peers);
// For these and for the ranks that they start.
void add_seconds(cli::Command& command, double& seconds);

class Turns {
 public:
  // Returns whether the line was a result; other lines are printed to standard error.
  using Take = std::function<bool(const Contender& contender, std::string_view line)>;

  void add(Contender contender) { contenders_.push_back(std::move(contender)); }
  // Returns false if the user interrupted it.
  bool run(int rounds, const Take& take) const;

 private:
  enum class Outcome { Ended, GivenUp, Interrupted };
  static Outcome run_one(const Contender& contender, const Take& take);

  std::vector<Contender> contenders_;
};

// Removes the "[0] " that `trireme run` puts in front of a rank's lines.
std::string_view without_rank(std::string_view line) noexcept;

}  // namespace trireme::bench
