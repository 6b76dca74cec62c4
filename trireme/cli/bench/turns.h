// Turns runs several contenders one after the other, round after round, and hands on the lines
// that they print.
//
// In turns, because a machine is not equally fast all the time: what is compared ran side by side.
//
// Failure: a contender that fails, or prints nothing that was wanted, is an Error; one that may
//          fail is said loudly on standard error, once, and left out of the rounds that follow.
// Threads: one.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/cli/bench/program.h"

namespace trireme::cli::bench {

// Who ran a case, if it was us.
inline constexpr const char* kOurs = "trireme";

struct Contender {
  std::string who = kOurs;
  std::string label;  // for people: "gloo, 2 ranks"
  Program program;
  Duration time_max = std::chrono::minutes(10);
  int rounds = 0;  // 0: as many as there are
  bool may_fail = false;
};

class Turns {
 public:
  // Says whether the line was wanted; others are shown on standard error.
  using Take = std::function<bool(const Contender& contender, std::string_view line)>;

  void add(Contender contender) { contenders_.push_back(std::move(contender)); }
  // False when a person interrupted it.
  bool run(int rounds, const Take& take) const;

 private:
  enum class Outcome { Ended, GivenUp, Interrupted };
  static Outcome run_one(const Contender& contender, const Take& take);

  std::vector<Contender> contenders_;
};

// `trireme run` puts "[0] " before a rank's lines.
std::string_view without_rank(std::string_view line) noexcept;

}  // namespace trireme::cli::bench
