#include "trireme/model/gradient_homes.h"

#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>

namespace trireme::model {
namespace {

constexpr std::int64_t kElementsMin = 1 << 15;

}  // namespace

c10::intrusive_ptr<HomesHolder> homes_for(const at::Tensor& weight, const Context& context) {
  const bool is_worth_it = context.homes != nullptr && c10::GradMode::is_enabled() &&
                           weight.requires_grad() && weight.numel() >= kElementsMin &&
                           !at::autocast::is_autocast_enabled(weight.device().type());
  return is_worth_it ? c10::make_intrusive<HomesHolder>(context.homes) : nullptr;
}

}  // namespace trireme::model
