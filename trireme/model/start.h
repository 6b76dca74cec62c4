// Start says how a parameter begins, and initialize() makes it so: a function of the seed and the
// parameter's name alone, so that every rank, on any layout, begins with the same bits.
//
// The bits of normal values depend on the C library's log and cos, up to their rounding.
//
// Threads: pure.

#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace trireme::model {

class Model;

struct Start {
  enum class Kind {
    Keep,      // as its module's constructor left it
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

// What PyTorch's own layers do: weights of 2 dims and more, and their biases, uniform within
// 1 / sqrt(inputs); weights of 1 dim (norms) 1 and their biases 0. `weight` is the tensor beside a
// bias, undefined where there is none.
Start default_start(const std::string& name, const at::Tensor& parameter, const at::Tensor& weight);

// Fills a tensor, any floating type, as that parameter of that seed.
void fill(const at::Tensor& tensor, const Start& start, std::uint64_t seed,
          const std::string& name);

// Elements [begin, begin + values.numel()) of it, for who holds a slice only. `values` is flat.
void fill_slice(const at::Tensor& values, std::int64_t begin, const Start& start,
                std::uint64_t seed, const std::string& name);

// Every parameter of the model as its start_of() says.
void initialize(Model& model, std::uint64_t seed);

}  // namespace trireme::model
