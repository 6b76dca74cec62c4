// The settings of the kinds that train replicas and bring them together every so many steps, a
// round: `local`, `post_local`, `hierarchical`, `diloco` and `gossip` under [sync].

#pragma once

#include <cstdint>
#include <string>

#include "trireme/base/config/fields.h"
#include "trireme/parallel/local/round_limits.h"

namespace trireme::parallel::local {

inline constexpr std::int64_t kSlackMax = 1024;

// What hosts tell each other.
enum class Crossing { Weights, Gradients };

// What all of them come to.
struct Pace {
  std::int64_t steps = 16;  // of a round
  RoundLimits end{};
  std::int64_t begin = 0;  // the first step of the first round
  double outer_rate = 1;
  double outer_momentum = 0;
  Crossing crossing = Crossing::Weights;
  std::int64_t fragments = 1;  // that are brought together in turn
  std::int64_t overlap = 0;    // steps in which one is on its way
  std::int64_t slack = 0;      // steps that a rank may be ahead of another without waiting for it

  bool is_streamed() const noexcept { return fragments > 1 || overlap > 0; }
};

// What is wrong with rounds of fragments, or "".
inline std::string complaint_of_fragments(const Pace& pace) {
  const bool is_asked_for = pace.end.seconds > 0 || pace.end.divergence > 0;
  if (pace.is_streamed() && is_asked_for) {
    return "fragments and overlap have turns by numbers of steps: leave round.seconds and "
           "round.divergence out, or take fragments = 1 and overlap = 0";
  }
  const std::int64_t shortest = shortest_round(pace.steps, pace.end.schedule);
  return pace.overlap > shortest
             ? "a fragment has to be there when its next turn comes: overlap is at most the steps "
               "of the shortest round, " +
                   std::to_string(shortest)
             : "";
}

// How far ranks may be from each other.
template <class Config>
void add_slack_field(config::Fields<Config>& f) {
  f.add("slack", &Config::slack)
      .range(0, kSlackMax)
      .unit("steps")
      .help(
          "that a rank may be ahead of another before it waits for it; a wish to stop reaches all "
          "so many steps later");
}

// What is wrong with slack in rounds that ranks ask each other to end, or "".
inline std::string complaint_of_slack(std::int64_t slack, const RoundLimits& end) {
  return slack > 0 && (end.seconds > 0 || end.divergence > 0)
             ? "with slack ranks are in different steps, and a round that one ends by "
               "round.seconds "
               "or round.divergence ends for all in the same: leave those out, or take slack = 0"
             : "";
}

// The settings of those who make an outer step at a round's end.
template <class Config>
void add_outer_fields(config::Fields<Config>& f) {
  f.add("outer_rate", &Config::outer_rate)
      .at_least(0)
      .help("learning rate of the outer step; 1 without momentum: the mean of all");
  f.add("outer_momentum", &Config::outer_momentum)
      .range(0.0, 1.0)
      .help("of the outer step, which is Nesterov's");
  f.add("fragments", &Config::fragments)
      .range(1, 4096)
      .help("of the model that are brought together one after the other, spread over a round");
  f.add("overlap", &Config::overlap)
      .at_least(0)
      .unit("steps")
      .help("that are made while a fragment travels; at most those of a round");
  add_slack_field(f);
  f.nest("round", &Config::end);
  f.require([](const Config& c) { return complaint_of_slack(c.slack, c.end); });
  f.require([](const Config& c) {
    return complaint_of_fragments(
        {.steps = c.steps, .end = c.end, .fragments = c.fragments, .overlap = c.overlap});
  });
}

struct LocalConfig {
  std::int64_t steps = 16;
  std::int64_t slack = 0;
  RoundLimits end{};

  static void describe(config::Fields<LocalConfig>& f) {
    f.add("steps", &LocalConfig::steps)
        .at_least(1)
        .help("that each rank makes by itself before weights are averaged");
    add_slack_field(f);
    f.nest("round", &LocalConfig::end);
    f.require([](const LocalConfig& c) { return complaint_of_slack(c.slack, c.end); });
  }
};

struct PostLocalConfig {
  std::int64_t begin = 1000;
  std::int64_t steps = 16;
  RoundLimits end{};

  static void describe(config::Fields<PostLocalConfig>& f) {
    f.add("begin", &PostLocalConfig::begin)
        .at_least(0)
        .unit("steps")
        .help("with gradients added up in each, before ranks go by themselves");
    f.add("steps", &PostLocalConfig::steps)
        .at_least(1)
        .help("that each rank then makes by itself before weights are averaged");
    f.nest("round", &PostLocalConfig::end);
  }
};

struct HierarchicalConfig {
  std::int64_t steps = 16;
  Crossing across = Crossing::Weights;
  double outer_rate = 1;
  double outer_momentum = 0;
  std::int64_t fragments = 1;
  std::int64_t overlap = 0;
  std::int64_t slack = 0;
  RoundLimits end{};

  static void describe(config::Fields<HierarchicalConfig>& f) {
    using T = HierarchicalConfig;
    f.add("across", &T::across)
        .names({{"weights", Crossing::Weights}, {"gradients", Crossing::Gradients}})
        .help(
            "what hosts tell each other: weights, every so many steps, or gradients, in every step "
            "as the codec makes them");
    f.add("steps", &T::steps).at_least(1).help("that each host makes before weights are averaged");
    add_outer_fields(f);
    f.require([](const T& c) {
      const bool is_outer = c.steps != T{}.steps || c.outer_rate != 1 || c.outer_momentum != 0 ||
                            c.fragments > 1 || c.overlap > 0 || c.slack > 0;
      const bool is_limited = !c.end.schedule.empty() || c.end.seconds > 0 || c.end.divergence > 0;
      const bool is_lost = c.across == Crossing::Gradients && (is_outer || is_limited);
      return is_lost
                 ? std::string(
                       "across = \"gradients\" has no rounds: leave steps, outer_rate, "
                       "outer_momentum, fragments, overlap, slack and round out, or take across = "
                       "\"weights\"")
                 : std::string();
    });
  }
};

struct DilocoConfig {
  std::int64_t steps = 50;
  double outer_rate = 0.7;
  double outer_momentum = 0.9;
  std::int64_t fragments = 1;
  std::int64_t overlap = 0;
  std::int64_t slack = 0;
  RoundLimits end{};

  static void describe(config::Fields<DilocoConfig>& f) {
    f.add("steps", &DilocoConfig::steps)
        .at_least(1)
        .help("that each rank makes by itself before the outer one");
    add_outer_fields(f);
  }
};

struct GossipConfig {
  std::int64_t steps = 1;
  std::int64_t overlap = 0;
  std::int64_t slack = 0;

  static void describe(config::Fields<GossipConfig>& f) {
    f.add("steps", &GossipConfig::steps)
        .at_least(1)
        .help("that each rank makes by itself before it averages weights with another");
    f.add("overlap", &GossipConfig::overlap)
        .at_least(0)
        .unit("steps")
        .help("that are made while weights travel between the two; at most `steps`");
    add_slack_field(f);
    f.require([](const GossipConfig& c) {
      return complaint_of_fragments({.steps = c.steps, .overlap = c.overlap});
    });
  }
};

}  // namespace trireme::parallel::local
