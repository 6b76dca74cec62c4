#include "trireme/parallel/pipeline/action.h"

#include <algorithm>
#include <string_view>

namespace trireme::parallel::pipeline {
namespace {

using Kind = Action::Kind;

std::string_view words_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::Forward:
      return "forward";
    case Kind::Backward:
      return "backward";
    case Kind::BackwardInput:
      return "backward for the input";
    case Kind::BackwardWeight:
      return "backward for the weights";
    case Kind::SendActivations:
      return "send of activations";
    case Kind::SendGradients:
      return "send of gradients";
    case Kind::ReceiveActivations:
      return "receive of activations";
    case Kind::ReceiveGradients:
      return "receive of gradients";
  }
  return "?";
}

}  // namespace

bool Action::is_send() const noexcept {
  return kind == Kind::SendActivations || kind == Kind::SendGradients;
}

bool Action::is_receive() const noexcept {
  return kind == Kind::ReceiveActivations || kind == Kind::ReceiveGradients;
}

bool Action::yields_gradients() const noexcept {
  return kind == Kind::Backward || kind == Kind::BackwardInput;
}

bool Action::is_of_activations() const noexcept {
  return kind == Kind::SendActivations || kind == Kind::ReceiveActivations;
}

std::string Action::to_text() const {
  const std::string_view place = is_send()      ? " from stage "
                                 : is_receive() ? " for stage "
                                                : " on stage ";
  return std::string(words_of(kind)) + " of micro-batch " + std::to_string(micro_batch) +
         std::string(place) + std::to_string(stage);
}

Action counterpart_of(const Action& transfer) noexcept {
  Action other = transfer;
  switch (transfer.kind) {
    case Kind::SendActivations:
      other.kind = Kind::ReceiveActivations;
      ++other.stage;
      break;
    case Kind::ReceiveActivations:
      other.kind = Kind::SendActivations;
      --other.stage;
      break;
    case Kind::SendGradients:
      other.kind = Kind::ReceiveGradients;
      --other.stage;
      break;
    case Kind::ReceiveGradients:
      other.kind = Kind::SendGradients;
      ++other.stage;
      break;
    default:
      break;
  }
  return other;
}

int peak_activations(const RankSchedule& schedule) noexcept {
  int alive = 0;
  int peak = 0;
  for (const Action& action : schedule) {
    if (action.kind == Kind::Forward) peak = std::max(peak, ++alive);
    if (action.kind == Kind::Backward || action.kind == Kind::BackwardWeight) --alive;
  }
  return peak;
}

}  // namespace trireme::parallel::pipeline
