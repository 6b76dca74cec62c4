// Groups determine which parameters have weight decay and which have their own learning rate. Two
// parameters with equal groups can be stored in one slice.
//
// Thread safety: immutable; any thread.
// Errors:        InvalidInput for a factor that is not of the form "pattern=factor".

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trireme/optim/optim_config.h"

namespace trireme::optim {

struct ParamGroup {
  double lr_factor = 1;
  bool is_decayed = true;

  friend bool operator==(const ParamGroup&, const ParamGroup&) = default;
};

class Groups {
 public:
  explicit Groups(const OptimConfig& config = {});

  // Parameters with fewer than 2 dims are norms and biases.
  ParamGroup group_of(std::string_view name, std::int64_t dims) const;

 private:
  bool is_all_decayed_;
  std::vector<std::string> no_decay_;
  std::vector<std::pair<std::string, double>> factors_;
};

// Whether a name matches a pattern, in which * matches any text, including none.
bool is_match(std::string_view pattern, std::string_view name) noexcept;

// The error in a list of "pattern=factor", or "".
std::string complaint_of_factors(const std::vector<std::string>& all);

}  // namespace trireme::optim
