// make_agreement() gives a model the way to agree that fits its job.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trireme/comm/group.h"
#include "trireme/optim/optimizer.h"
#include "trireme/parallel/agree.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel {

struct AgreementOptions {
  std::vector<Parameter> parameters;
  std::shared_ptr<const optim::Optimizer> optimizer;
  comm::Group group = comm::Group::solo();
  bool is_ordered = false;     // sums over slots follow the fixed tree
  bool is_recomputed = false;  // a parameter's gradient may come in several parts
};

std::shared_ptr<Agreement> make_agreement(AgreementOptions options);

}  // namespace trireme::parallel
