#include <utility>

#include "trireme/parallel/pipeline/passes.h"

namespace trireme::parallel::pipeline {
namespace {

using Kind = Action::Kind;

// The pattern of one rank. Its first stage is on the way down the V, its second one on the way up.
class VPattern {
 public:
  VPattern(const PipelineShape& shape, int rank) : shape_(shape), rank_(rank) {}

  RankSchedule make() && {
    warm_up();
    while (down_.forward < shape_.micro_batches || up_.forward < down_.forward) steady();
    cool_down();
    return std::move(passes_);
  }

 private:
  struct StageProgress {
    int stage;
    int forward = 0;
    int input = 0;
    int weight = 0;
  };

  // The pattern counts on, so that with few micro-batches the other passes keep their order.
  void append(Kind kind, int& count, int stage) {
    if (count < shape_.micro_batches) passes_.push_back({kind, count, stage});
    ++count;
  }
  void forward(StageProgress& on) { append(Kind::Forward, on.forward, on.stage); }
  void input(StageProgress& on) { append(Kind::BackwardInput, on.input, on.stage); }
  void weight(StageProgress& on) { append(Kind::BackwardWeight, on.weight, on.stage); }

  // Until the first gradients arrive at the first stage.
  void warm_up() {
    for (int i = 0; i < 2 * (shape_.ranks - rank_) - 1; ++i) forward(down_);
    for (int i = 0; i < rank_; ++i) {
      forward(up_);
      forward(down_);
    }
    for (int i = 0; i < shape_.ranks - rank_; ++i) {
      forward(up_);
      input(up_);
      weight(up_);
    }
  }

  void steady() {
    if (down_.forward < shape_.micro_batches) forward(down_);
    input(down_);
    weight(down_);
    forward(up_);
    input(up_);
    weight(up_);
  }

  // The weights wait, so that the gradients reach the first stage as early as possible.
  void cool_down() {
    for (int i = 0; i < rank_; ++i) {
      input(down_);
      input(up_);
    }
    for (int i = 0; i < shape_.ranks - rank_; ++i) {
      input(down_);
      weight(down_);
    }
    while (up_.weight < shape_.micro_batches) weight(up_);
    while (down_.weight < shape_.micro_batches) weight(down_);
  }

  PipelineShape shape_;
  int rank_;
  StageProgress down_{.stage = rank_};
  StageProgress up_{.stage = 2 * shape_.ranks - 1 - rank_};
  RankSchedule passes_;
};

}  // namespace

RankSchedule zb_v_passes(const PipelineShape& shape, int rank) {
  return VPattern(shape, rank).make();
}

}  // namespace trireme::parallel::pipeline
