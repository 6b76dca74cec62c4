// Multitask is a trunk of convolutions and fully connected layers that several tasks share, with
// one head per task. It has its own loss: see MultitaskLoss.
//
// Output: (B, columns): the heads side by side; with learned weights, one more column s per task.
// Names:  trunk.0.weight, trunk.0.bias ... heads.class.weight ... heads.log_variance
// Errors: InvalidInput if the data have only one task, if samples are not numbers, or if there are
//         convolutions but samples are not images.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trireme/model/block_model.h"
#include "trireme/model/multitask/multitask_config.h"

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
