// Activations are the data passed from block to block: one main tensor, named tensors that several
// blocks share (a mask, rotary angles, an encoder's output), and auxiliary losses.
//
// A pipeline sends all of them to the next stage and recomputation keeps all of them, so store a
// tensor here only if a later block reads it.
//
// Thread safety: a value type.

#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trireme/base/check.h"

namespace trireme::model {

class Activations {
 public:
  Activations() = default;
  explicit Activations(at::Tensor tensor) : main(std::move(tensor)) {}

  at::Tensor main;
  std::vector<at::Tensor> losses;  // scalars, already weighted, summed over samples

  bool has(std::string_view name) const { return others_.find(name) != others_.end(); }
  const at::Tensor& get(std::string_view name) const {
    const auto found = others_.find(name);
    TRIREME_CHECK(found != others_.end(), "no activation is named ", name);
    return found->second;
  }
  void set(const std::string& name, at::Tensor tensor) { others_[name] = std::move(tensor); }
  void drop(std::string_view name) {
    const auto found = others_.find(name);
    if (found != others_.end()) others_.erase(found);
  }

  // All tensors: main, the named ones in the order of their names, losses.
  std::vector<at::Tensor> tensors() const {
    std::vector<at::Tensor> all{main};
    for (const auto& [name, tensor] : others_) all.push_back(tensor);
    all.insert(all.end(), losses.begin(), losses.end());
    return all;
  }

  // In the order of their names.
  const std::map<std::string, at::Tensor, std::less<>>& others() const noexcept { return others_; }

 private:
  std::map<std::string, at::Tensor, std::less<>> others_;
};

}  // namespace trireme::model
