#include "trireme/parallel/local/delayed.h"

#include "trireme/parallel/strategies.h"
#include "trireme/parallel/strategy_parts.h"

namespace trireme::parallel {
namespace {

std::shared_ptr<GradientSync> make_delayed(const NoSettings&, SyncOptions options) {
  local::FlatModel::Options flat = flat_options(options);
  flat.parameters = options.parameters;
  flat.group = options.group;
  flat.can_drop = options.can_drop;
  return std::make_shared<local::Delayed>(
      local::Delayed::Options{.own = {.parameters = std::move(options.parameters),
                                      .optimizer = std::move(options.optimizer)},
                              .buffers = std::move(options.buffers),
                              .flat = std::move(flat),
                              .commit_group = options.commit_group,
                              .faults = options.faults});
}

}  // namespace

void add_delayed(Strategies& all) {
  all.add({.name = "delayed",
           .help = "gradients are applied one step late, and travel during the next step",
           .can = {.has_codec = true,
                   .is_elastic = true,
                   .can_follow = true,
                   .needs_unscaled_loss = true},
           .make = make_delayed});
}

}  // namespace trireme::parallel
