// The settings of the local-update methods under [sync]: `local`, `post_local`, `hierarchical`,
// `diloco` and `gossip`. They train replicas independently and combine them at the end of every
// round, which is a number of steps.

#pragma once

#include <cstdint>
#include <string>

#include "trireme/base/config/fields.h"
#include "trireme/parallel/local/round/round_limits.h"

namespace trireme::parallel::local {

inline constexpr std::int64_t kSlackMax = 1024;

// What hosts send each other.
enum class Crossing { Weights, Gradients };

// The settings of a local-update method, as Rounds reads them. A method describes those that it
// has; the others keep their defaults.
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

struct LocalConfig : RoundSettings {
  static void describe(config::Fields<LocalConfig>& f) {
    f.add("steps", &LocalConfig::steps)
        .at_least(1)
        .help("steps that each rank runs by itself before weights are averaged");
    add_slack_field(f);
    add_round_fields(f);
  }
};

struct PostLocalConfig : RoundSettings {
  PostLocalConfig() : RoundSettings{.begin = 1000} {}

  static void describe(config::Fields<PostLocalConfig>& f) {
    f.add("begin", &PostLocalConfig::begin)
        .at_least(0)
        .unit("steps")
        .help("steps with an all-reduce of gradients, before ranks run by themselves");
    f.add("steps", &PostLocalConfig::steps)
        .at_least(1)
        .help("steps that each rank then runs by itself before weights are averaged");
    add_round_fields(f);
  }
};

struct HierarchicalConfig : RoundSettings {
  static void describe(config::Fields<HierarchicalConfig>& f) {
    using T = HierarchicalConfig;
    f.add("across", &T::crossing)
        .names({{"weights", Crossing::Weights}, {"gradients", Crossing::Gradients}})
        .help(
            "what hosts send each other: weights at the end of every round, or gradients, encoded "
            "by the codec, in every step");
    f.add("steps", &T::steps)
        .at_least(1)
        .help("steps that each host runs before weights are averaged");
    add_outer_fields(f);
    f.require([](const T& c) {
      const bool is_lost =
          c.crossing == Crossing::Gradients && c != RoundSettings{.crossing = c.crossing};
      return is_lost ? std::string(
                           "across = \"gradients\" has no rounds; remove steps, outer_lr, "
                           "outer_momentum, fragments, overlap, slack and round, or use across = "
                           "\"weights\"")
                     : std::string();
    });
  }
};

struct DilocoConfig : RoundSettings {
  DilocoConfig() : RoundSettings{.steps = 50, .outer_lr = 0.7, .outer_momentum = 0.9} {}

  static void describe(config::Fields<DilocoConfig>& f) {
    f.add("steps", &DilocoConfig::steps)
        .at_least(1)
        .help("steps that each rank runs by itself before the outer step");
    add_outer_fields(f);
  }
};

struct GossipConfig : RoundSettings {
  GossipConfig() : RoundSettings{.steps = 1} {}

  static void describe(config::Fields<GossipConfig>& f) {
    f.add("steps", &GossipConfig::steps)
        .at_least(1)
        .help("steps that each rank runs by itself before it averages weights with another rank");
    f.add("overlap", &GossipConfig::overlap)
        .at_least(0)
        .unit("steps")
        .help("steps that run while the weights of a pair are in flight; at most `steps`");
    add_slack_field(f);
    f.require(complaint_of_fragments);
  }
};

}  // namespace trireme::parallel::local
