// RoundSettings are the settings of local-update methods under [sync]. These methods train replicas
// independently and combine them at the end of every round, which is a number of steps. Each
// derives its settings (strategy/) from these and describes the fields that it has.
//
// Thread safety: values and pure functions.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/base/config/fields.h"

namespace trireme::parallel::local {

inline constexpr std::int64_t kSlackMax = 1024;

// The error message for an invalid list of "step=steps of a round", or "".
std::string complaint_of_schedule(const std::vector<std::string>& all);

// The shortest round of the schedule. `steps`, the length before the schedule's first entry, counts
// unless that entry is for step 0.
std::int64_t shortest_round(std::int64_t steps, const std::vector<std::string>& schedule);

// [sync.round]: the conditions that end a round besides its number of steps. The first that is met
// ends it.
struct RoundLimits {
  std::vector<std::string> schedule{};
  double seconds = 0;
  double divergence = 0;

  // Whether a rank may end a round for all ranks.
  bool is_asked_for() const noexcept { return seconds > 0 || divergence > 0; }
  bool operator==(const RoundLimits&) const = default;

  static void describe(config::Fields<RoundLimits>& f) {
    f.add("schedule", &RoundLimits::schedule)
        .check([](const std::vector<std::string>& all) { return complaint_of_schedule(all); })
        .help("changes of the steps per round, as \"first step=steps\": [\"1000=64\"]");
    f.add("seconds", &RoundLimits::seconds)
        .at_least(0)
        .unit("s")
        .help("duration after which a rank ends the round for all ranks; 0: no limit");
    f.add("divergence", &RoundLimits::divergence)
        .at_least(0)
        .help(
            "distance of a rank's weights from those at the start of the round, relative to their "
            "norm, at which the rank ends the round for all ranks; 0: no limit");
  }
};

// What hosts send each other.
enum class Crossing { Weights, Gradients };

// As Rounds reads them. Settings that a method does not describe keep their defaults.
struct RoundSettings {
  std::int64_t steps = 16;  // per round
  RoundLimits end{};
  std::int64_t begin = 0;  // the first step of the first round
  double outer_lr = 1;
  double outer_momentum = 0;
  Crossing crossing = Crossing::Weights;
  std::int64_t fragments = 1;  // parts of the model that are combined one after the other
  std::int64_t overlap = 0;    // steps during which a fragment is in flight
  std::int64_t slack = 0;      // steps that a rank may be ahead of another before it waits

  bool is_streamed() const noexcept { return fragments > 1 || overlap > 0; }
  bool operator==(const RoundSettings&) const = default;
};

// The error message for settings of fragments that cannot be used together, or "".
inline std::string complaint_of_fragments(const RoundSettings& pace) {
  if (pace.is_streamed() && pace.end.is_asked_for()) {
    return "fragments and overlap are scheduled by step and are not supported with round.seconds "
           "or round.divergence; remove those, or use fragments = 1 and overlap = 0";
  }
  const std::int64_t shortest = shortest_round(pace.steps, pace.end.schedule);
  return pace.overlap > shortest
             ? "a fragment must arrive before it is sent again; set overlap to at most the number "
               "of steps of the shortest round, " +
                   std::to_string(shortest)
             : "";
}

// The error message for slack together with rounds that a rank can end early, or "".
inline std::string complaint_of_slack(const RoundSettings& pace) {
  return pace.slack > 0 && pace.end.is_asked_for()
             ? "slack lets ranks be in different steps and is not supported with round.seconds or "
               "round.divergence, which end a round in the same step on all ranks; remove those, "
               "or use slack = 0"
             : "";
}

template <class Config>
void add_slack_field(config::Fields<Config>& f) {
  f.add("slack", &Config::slack)
      .range(0, kSlackMax)
      .unit("steps")
      .help(
          "steps that a rank may be ahead of another before it waits; a request to stop takes "
          "effect this many steps later");
}

// [sync.round], and what rounds require of the settings described before.
template <class Config>
void add_round_fields(config::Fields<Config>& f) {
  f.nest("round", &Config::end);
  f.require(complaint_of_slack);
  f.require(complaint_of_fragments);
}

// The settings of the methods that run an outer optimizer step at the end of a round.
template <class Config>
void add_outer_fields(config::Fields<Config>& f) {
  f.add("outer_lr", &Config::outer_lr)
      .at_least(0)
      .help("learning rate of the outer step; 1 without momentum averages the replicas");
  f.add("outer_momentum", &Config::outer_momentum)
      .range(0.0, 1.0)
      .help("Nesterov momentum of the outer step");
  f.add("fragments", &Config::fragments)
      .range(1, 4096)
      .help("parts of the model that are synchronized one after the other, spread over a round");
  f.add("overlap", &Config::overlap)
      .at_least(0)
      .unit("steps")
      .help("steps that run while a fragment is in flight; at most the steps of a round");
  add_slack_field(f);
  add_round_fields(f);
}

}  // namespace trireme::parallel::local
