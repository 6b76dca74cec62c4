#include "trireme/device/cuda/missing.h"
#include "trireme/model/layer/kernel/dropout.h"

namespace trireme::model::kernel {

void drop(const DropoutMask&, const DropoutRows&, const Stream&) {
  cuda::throw_missing("dropout");
}

}  // namespace trireme::model::kernel
