// Scores an ensemble of several models, and compares two models with tests of significance.
//
// Every loss is that of the first model's recipe, so that losses are comparable. A stack is fitted
// on one half of the samples, and all scores are those of the other half: see half_of().
//
// Errors:        InvalidInput for a blend that these data do not support; what ask_panel() throws.
// Thread safety: one thread.

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
  std::vector<double> weights;  // of the members, if the ensemble is a stack
  std::int64_t samples = 0;     // on which the scores are based
};

struct PanelOptions {
  const model::Loss* loss = nullptr;
  PanelReading reading{};
  std::uint64_t seed = 1;  // of the bootstrap
};

PanelScores score_panel(std::vector<PanelMember> members, Blend blend, const PanelOptions& options);

struct ModelComparison {
  Scores first;
  Scores second;
  std::optional<McNemar> answers;  // if samples have one class each
  Interval loss;                   // per sample, first - second
};

ModelComparison compare_models(const PanelMember& first, const PanelMember& second,
                               const PanelOptions& options);

}  // namespace trireme::train
