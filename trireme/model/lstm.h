// Lstm is a recurrent model of texts: tokens to vectors, layers of long short-term memory, and a
// head. Every sample begins with an empty memory.
//
// Names:   embedding.weight; lstm.weight_ih_l0, lstm.weight_hh_l0, lstm.bias_ih_l0 ... as
//          torch.nn.LSTM's; head.weight, head.bias.
// Input:   int64 (B, T); output (B, T, vocabulary).
// Failure: InvalidInput where samples are no texts.

#pragma once

#include "trireme/model/block_model.h"
#include "trireme/model/lstm_config.h"

namespace trireme::model {

class Lstm final : public BlockModel {
 public:
  Lstm(const LstmConfig& config, const data::Form& form);

  // As PyTorch's: layers uniform within 1 / sqrt(width), the table normal of deviation 1 (0.02
  // where it is the head, too).
  Start start_of(const std::string& name, const at::Tensor& parameter) const override;

 private:
  LstmConfig config_;
};

}  // namespace trireme::model
