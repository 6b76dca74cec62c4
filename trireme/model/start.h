// Start describes how a parameter is initialized, and initialize() does it. Values depend only on
// the seed and the parameter's name, so that every rank, in any layout, starts with bitwise
// identical weights.
//
// The bits of normal values depend on the rounding of the C library's log and cos.
//
// Thread safety: pure functions; any thread.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace trireme::model {

class Model;

struct Start {
  enum class Kind {
    Keep,      // as the constructor of its module left it
    Constant,  // value
    Uniform,   // in [-value, value)
    Normal,    // mean 0, deviation value
  };

  Kind kind = Kind::Keep;
  double value = 0;

  static Start keep() { return {}; }
  static Start constant(double value) { return {Kind::Constant, value}; }
  static Start uniform(double bound) { return {Kind::Uniform, bound}; }
  static Start normal(double deviation) { return {Kind::Normal, deviation}; }
};

// As in PyTorch's own layers: weights with 2 or more dims, and their biases, are uniform within 1 /
// sqrt(inputs); weights with 1 dim (norms) are 1 and their biases 0. `weight` is the tensor that
// belongs to a bias; undefined if there is none.
Start default_start(const std::string& name, const at::Tensor& parameter, const at::Tensor& weight);

// Fills a tensor of any floating type with the values of this parameter for this seed.
void fill(const at::Tensor& tensor, const Start& start, std::uint64_t seed,
          const std::string& name);

// Fills only elements [begin, begin + values.numel()), for a rank that holds a shard. `values` is
// flat.
void fill_slice(const at::Tensor& values, std::int64_t begin, const Start& start,
                std::uint64_t seed, const std::string& name);

// Initializes every parameter of the model according to start_of().
void initialize(Model& model, std::uint64_t seed);

}  // namespace trireme::model
