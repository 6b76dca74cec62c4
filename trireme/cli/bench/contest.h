// Contest runs several contenders in turns, round after round, and keeps what each reported.
//
// In turns, because a machine is not equally fast all the time: what is compared ran side by side.
//
// Failure: a run of ours that fails is an Error. A peer that fails is said loudly on standard
//          error, once, and left out of the rounds that follow.
// Threads: one.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/cli/bench/program.h"
#include "trireme/cli/bench/series.h"

namespace trireme::cli::bench {

struct Contender {
  std::string who = kOurs;
  std::string label;  // for people: "gloo, 2 ranks"
  Program program;
  Duration time_max = std::chrono::minutes(10);
  int rounds = 0;  // 0: as many as there are
};

class Contest {
 public:
  void add(Contender contender) { contenders_.push_back(std::move(contender)); }
  // False when a person interrupted it.
  bool run(int rounds, const std::function<void(const std::string& who, const Record&)>& on_record);

  const std::vector<Series>& series() const noexcept { return series_; }

 private:
  enum class Outcome { Ended, GivenUp, Interrupted };
  Outcome run_one(const Contender& contender,
                  const std::function<void(const std::string&, const Record&)>& on_record);

  std::vector<Contender> contenders_;
  std::vector<Series> series_;
};

// `trireme run` puts "[0] " before a rank's lines.
std::string_view without_rank(std::string_view line) noexcept;

}  // namespace trireme::cli::bench
