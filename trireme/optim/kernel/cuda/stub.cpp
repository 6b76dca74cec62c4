#include "trireme/device/cuda/missing.h"
#include "trireme/optim/kernel/rules.h"
#include "trireme/optim/kernel/update.h"

namespace trireme::optim::kernel {

template <class Rule>
void update(std::span<const Update<Rule>>, const Stream&) {
  cuda::throw_missing("optimizers");
}

#define TRIREME_NAME(...) __VA_ARGS__
#define TRIREME_UPDATE(RULE) \
  template void update(std::span<const Update<TRIREME_NAME RULE>>, const Stream&);
TRIREME_FOR_EACH_RULE(TRIREME_UPDATE)

}  // namespace trireme::optim::kernel
