// Prepares a model for transfer learning as the recipe says: attaches low-rank adapters (LoRA) and
// freezes the parameters that are not trained.
//
// Errors:        InvalidInput if a pattern matches no name, since the user expected a match.
// Thread safety: no other thread uses the model during a call.

#pragma once

#include <string>
#include <vector>

#include "trireme/model/model.h"
#include "trireme/model/transfer_config.h"

namespace trireme::train {

// Called before weights are loaded. The initial values of adapters are a function of the seed.
void prepare_transfer(model::Model& model, const model::TransferConfig& config, std::uint64_t seed);

// Whether a name matches one of the patterns.
bool fits_any(const std::vector<std::string>& patterns, const std::string& name);

// Throws InvalidInput, with the name of the setting, if one of the patterns matches no weight.
void expect_fits(const model::Model& model, const std::vector<std::string>& patterns,
                 const char* setting);

// Levels gives the depth of each parameter: 0 for the blocks next to the input. Blocks with one
// path (attention and MLP of a layer) are one level.
class Levels {
 public:
  // Throws InvalidInput, with the name of the setting, if the model is not made of blocks.
  Levels(const model::Model& model, const std::string& setting);

  int count() const noexcept { return count_; }
  int of(const std::string& parameter) const;

 private:
  std::vector<std::pair<std::string, int>> levels_;  // by name, in order
  int count_ = 0;
};

}  // namespace trireme::train
