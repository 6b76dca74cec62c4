// Action is one thing that a rank does in a step of pipeline parallelism. The model is divided into
// stages, and a rank of the pipe axis holds one or several of them. A RankSchedule is what one rank
// does, in order; a PipelineSchedule has one for each rank of the axis. All are pure data.
//
//   forward of micro-batch 0 on stage 0, send of activations of micro-batch 0 from stage 0, ...
//
// Backward computes the gradients of a stage's input and of its weights. Some schedules split it:
// BackwardInput computes what the previous stage waits for, and BackwardWeight the rest at any time
// after it. A transfer names the stage of its own rank: the activations that are sent from stage s
// are received for stage s + 1, and the gradients that are sent from stage s for stage s - 1.
//
// Thread safety: values and pure functions.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trireme::parallel::pipeline {

struct Action {
  enum class Kind : std::uint8_t {
    Forward,
    Backward,
    BackwardInput,
    BackwardWeight,
    SendActivations,
    SendGradients,
    ReceiveActivations,
    ReceiveGradients,
  };

  Kind kind = Kind::Forward;
  int micro_batch = 0;  // index among those of this replica
  int stage = 0;        // index among all stages of the model

  bool is_send() const noexcept;
  bool is_receive() const noexcept;
  // True for a forward or backward pass, or a part of one.
  bool is_compute() const noexcept { return !is_send() && !is_receive(); }
  // True for a pass whose result the previous stage waits for: Backward and BackwardInput.
  bool yields_gradients() const noexcept;
  // True for a transfer of activations, false for one of gradients.
  bool is_of_activations() const noexcept;

  // "forward of micro-batch 3 on stage 1", "send of gradients of micro-batch 0 from stage 2".
  std::string to_text() const;

  friend bool operator==(const Action&, const Action&) = default;
};

using RankSchedule = std::vector<Action>;
using PipelineSchedule = std::vector<RankSchedule>;  // by rank of the pipe axis

// The transfer that the peer does: the receive of a send, and the send of a receive.
// REQUIRES: the action is a transfer.
Action counterpart_of(const Action& transfer) noexcept;

// The largest number of activations that are alive at a time: one for each micro-batch and stage
// between its forward pass and its Backward or BackwardWeight.
int peak_activations(const RankSchedule& schedule) noexcept;

}  // namespace trireme::parallel::pipeline
