// Lstm is a recurrent language model: token embeddings, LSTM layers and a head. Every sample begins
// with an empty state.
//
// Names:  embedding.weight; lstm.weight_ih_l0, lstm.weight_hh_l0, lstm.bias_ih_l0 ... as in
//         torch.nn.LSTM; head.weight, head.bias.
// Input:  int64 (B, T); output (B, T, vocabulary).
// Errors: InvalidInput if samples are not texts.

#pragma once

#include "trireme/model/block_model.h"
#include "trireme/model/lstm/lstm_config.h"

namespace trireme::model {

class Lstm final : public BlockModel {
 public:
  Lstm(const LstmConfig& config, const data::Form& form);

  // As in PyTorch: layers uniform within 1 / sqrt(width), the table normal with standard deviation
  // 1 (0.02 if it is also the head).
  Start start_of(const std::string& name, const at::Tensor& parameter) const override;

 private:
  LstmConfig config_;
};

}  // namespace trireme::model
