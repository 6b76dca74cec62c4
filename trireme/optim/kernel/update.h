// update() applies a rule to elements in plain memory, in one pass over value, gradient and state;
// it is limited by memory bandwidth. The rules of rules.h are instantiated, in float and double.
//
// Thread safety: each call on the CPU runs on the calling thread.

#pragma once

#include <cstdint>
#include <span>

#include "trireme/device/device.h"

namespace trireme::optim::kernel {

template <class T>
struct Elements {
  T* value = nullptr;
  const T* gradient = nullptr;
  T* state[3] = {};  // as many as the rule has

  Elements from(std::int64_t begin) const {
    Elements rest{value + begin, gradient + begin};
    for (int i = 0; i < 3; ++i) rest.state[i] = state[i] == nullptr ? nullptr : state[i] + begin;
    return rest;
  }
};

// In the memory of the CPU.
template <class Rule>
void update(const Rule& rule, const Elements<typename Rule::Number>& all, std::int64_t count);

// The elements of one slice and their rule.
template <class Rule>
struct Update {
  Rule rule{};
  Elements<typename Rule::Number> all{};
  std::int64_t count = 0;
};

// In the memory of a GPU: all slices in as few launches as possible. Runs after the call returns,
// in the order of the stream.
// Errors: Unsupported if this build has no CUDA; Io for an error of CUDA.
template <class Rule>
void update(std::span<const Update<Rule>> slices, const Stream& stream);

}  // namespace trireme::optim::kernel
