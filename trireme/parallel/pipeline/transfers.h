// with_transfers() adds the transfers between ranks to a schedule of passes.
//
// Send:    directly after the pass that produces the value.
// Receive: posted one pass before the pass that uses the value, so that the transfer overlaps with
//          computation; and before the value is sent, if that is earlier with the default times of
//          schedule_run.h. Then no send waits for its receive with these times, and with other
//          times the ranks cannot wait for each other in sends, even if no send is buffered. Not
//          earlier, because each posted receive holds a buffer.
// Order:   from one rank to another, activations are received in the order in which they are sent,
//          and so are gradients, because many backends match the next receive with the next send.
//          Where a rank uses values in another order, some of its receives are posted earlier.
//
// What one stage passes to another on the same rank has no transfer.
//
// Thread safety: pure functions.
// Errors:        Misuse if the schedule already has transfers, if a value is used that no pass
//                produces, or if the ranks wait for each other.

#pragma once

#include <optional>

#include "trireme/parallel/pipeline/action.h"
#include "trireme/parallel/pipeline/stage_placement.h"

namespace trireme::parallel::pipeline {

// `passes` has the forward and backward passes of every rank.
PipelineSchedule with_transfers(const PipelineSchedule& passes, const StagePlacement& placement);

// The transfer of what the pass produces to another rank; nothing if no other rank uses it.
std::optional<Action> send_after(const Action& pass, const StagePlacement& placement);
// The transfer of what the pass uses from another rank; nothing if it uses only values of its own
// rank.
std::optional<Action> receive_before(const Action& pass, const StagePlacement& placement);

}  // namespace trireme::parallel::pipeline
