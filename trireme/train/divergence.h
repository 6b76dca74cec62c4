// What to do after steps whose loss or gradient was not finite, in words. The program that started
// the job prints commands that follow the advice.
//
// A checkpoint helps only if a job that is resumed from it with other settings makes an update
// before it comes to the first of these steps: otherwise that step has the same weights again.
//
// Thread safety: pure functions.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trireme/base/config/config.h"

namespace trireme::train {

struct Divergence {
  std::int64_t first_step = 0;            // the first of the steps, counted from 1
  std::optional<std::int64_t> newest{};   // the step of the newest checkpoint
  std::optional<std::int64_t> helpful{};  // the step of the newest checkpoint that helps

  // A checkpoint of a later step does not help.
  static std::int64_t last_helpful(std::int64_t first_step) { return first_step - 2; }

  std::string advice(const config::Config& config) const;
};

}  // namespace trireme::train
