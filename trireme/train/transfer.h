// What a recipe says of weights that were trained before, done to a model: changes of low rank
// attached, and what is not to be trained frozen.
//
// Threads: the model is the caller's while this runs.
// Failure: InvalidInput where a name fits nothing: it was meant to.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "trireme/model/model.h"
#include "trireme/model/transfer_config.h"

namespace trireme::train {

// Before any weights are loaded. What a change of low rank begins with is a function of the seed.
void prepare_transfer(model::Model& model, const model::TransferConfig& config, std::uint64_t seed);

// Whether a name fits one of these patterns.
bool fits_any(const std::vector<std::string>& patterns, const std::string& name);

// InvalidInput, with the setting's name, where one of the patterns fits no weight.
void expect_fits(const model::Model& model, const std::vector<std::string>& patterns,
                 const char* setting);

// How far from the input each parameter is: 0 next to it. Blocks of one path (attention and mlp of
// a layer) are one level.
class Levels {
 public:
  // InvalidInput, with the setting's name, where the model is not made of blocks.
  Levels(const model::Model& model, const std::string& setting);

  int count() const noexcept { return count_; }
  int of(const std::string& parameter) const;

 private:
  std::vector<std::pair<std::string, int>> levels_;  // by name, in order
  int count_ = 0;
};

}  // namespace trireme::train
