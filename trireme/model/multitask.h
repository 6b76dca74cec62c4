// Multitask is a trunk of convolutions and layers of neurons that several tasks share, and a head
// for each. It brings its own loss: see MultitaskLoss.
//
// Output:  (B, columns): the heads side by side; with learned weights, a column s more a task.
// Names:   trunk.0.weight, trunk.0.bias ... heads.class.weight ... heads.log_variance
// Failure: InvalidInput where the data ask for one thing only, or samples are no numbers; where
//          there are convolutions and no images.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trireme/model/block_model.h"
#include "trireme/model/multitask_config.h"

namespace trireme::model {

class Multitask final : public BlockModel {
 public:
  Multitask(const MultitaskConfig& config, const data::Form& form);

  std::shared_ptr<const Loss> own_loss() const override;
  Start start_of(const std::string& name, const at::Tensor& parameter) const override;

 private:
  MultitaskConfig config_;
  std::vector<data::TaskForm> tasks_;
};

}  // namespace trireme::model
