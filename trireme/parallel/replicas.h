// Replicas keeps the copies of a torch::nn::Module on all ranks alike: what a LibTorch program of
// one process needs to become one of many. Its own loop, losses and optimizers stay as they are.
//
//   auto world = trireme::cluster::World::join();
//   auto group = trireme::comm::connect(world);
//   trireme::parallel::Replicas replicas(*net, group);  // everybody has rank 0's weights
//   ...
//   loss.backward();   // when it returns, gradients are the mean over all ranks
//   optimizer.step();
//
// Gradients travel in buckets, during backward, in the order in which the first backward brought
// them. A parameter that no rank used keeps the gradient it had, undefined perhaps, so that
// optimizers pass it over as they do on one rank. Several backward passes before a step add up.
//
// Order:    every rank runs the same backward passes in the same order.
// Errors:   errors of Group are thrown by backward(). After a backward pass that throws on every
//           rank, another one may follow.
// Threads:  the one that runs backward.
// Lifetime: the module outlives it; gradients are views of its memory.

#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "trireme/comm/group.h"

namespace trireme::parallel {

class Replicas {
 public:
  struct Options {
    std::int64_t bucket_size = 4 << 20;  // bytes
    // Buffers (running statistics) are rank 0's before each forward pass: see share_buffers().
    bool has_shared_buffers = true;
    // Gradients may come in parts, as with recomputation: buckets wait for the end of backward.
    bool is_in_parts = false;
  };

  Replicas(torch::nn::Module& module, const comm::Group& group, const Options& options);
  Replicas(torch::nn::Module& module, const comm::Group& group)
      : Replicas(module, group, Options()) {}
  ~Replicas();
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;

  // While it lives, backward passes add up on each rank by itself; the next one after it brings
  // all of them together.
  class [[nodiscard]] Pause {
   public:
    explicit Pause(Replicas& replicas);
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Replicas& replicas_;
  };
  Pause no_sync() { return Pause(*this); }

  // Gives everybody rank 0's buffers. Done after each synchronized backward too.
  void share_buffers();

 private:
  class Reduction;
  std::unique_ptr<Reduction> reduction_;
};

}  // namespace trireme::parallel
