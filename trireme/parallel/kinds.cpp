#include "trireme/parallel/kinds.h"

#include <utility>

#include "trireme/base/error.h"
#include "trireme/parallel/solo.h"

namespace trireme::parallel {

std::shared_ptr<Agreement> make_agreement(AgreementOptions options) {
  if (options.group.size() > 1) {
    throw Error(ErrorCode::Unsupported, "training on several ranks is not there yet");
  }
  return std::make_shared<Solo>(Solo::Options{.parameters = std::move(options.parameters),
                                              .optimizer = std::move(options.optimizer),
                                              .can_update_early = !options.is_recomputed});
}

}  // namespace trireme::parallel
