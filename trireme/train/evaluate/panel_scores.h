// How good several models are together, and whether two of them differ by more than chance.
//
// Meaning: every loss is that of the first model's recipe, so that figures can be compared. A stack
//          is fitted on one half of the samples and all figures are of the other: see half_of().
// Threads: one.
// Failure: InvalidInput for a blend that these data do not allow; what ask_panel() throws.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trireme/model/loss/loss.h"
#include "trireme/train/evaluate/panel.h"
#include "trireme/train/evaluate/scores.h"
#include "trireme/train/evaluate/significance.h"

namespace trireme::train {

enum class Blend { Average, Vote, Stack };

struct PanelScores {
  std::vector<Scores> members;
  Scores ensemble;
  std::vector<double> weights;  // of a stack's members
  std::int64_t samples = 0;     // that were reported on
};

struct PanelOptions {
  const model::Loss* loss = nullptr;
  PanelReading reading{};
  std::uint64_t seed = 1;  // of the bootstrap
};

PanelScores score_panel(std::vector<PanelMember> members, Blend blend, const PanelOptions& options);

struct Difference {
  Scores first;
  Scores second;
  std::optional<McNemar> answers;  // of samples of one class each
  Interval loss;                   // of a sample, first - second
};

Difference compare_models(const PanelMember& first, const PanelMember& second,
                          const PanelOptions& options);

}  // namespace trireme::train
