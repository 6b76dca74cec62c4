// Replicas is DistributedDataParallel for a torch::nn::Module: it keeps the copies of a module on
// all ranks equal. A LibTorch program needs nothing else to run on several ranks; its training
// loop, losses and optimizers do not change.
//
//   auto world = trireme::cluster::World::join();
//   auto group = trireme::comm::connect(world);
//   trireme::parallel::Replicas replicas(*net, group);  // all ranks get rank 0's weights
//   ...
//   loss.backward();   // when it returns, gradients are the mean over all ranks
//   optimizer.step();
//
// Gradients are reduced in buckets during backward, in the order in which the first backward pass
// produced them; that pass reduces them at its end. A parameter that no rank used keeps its
// previous gradient, which may be undefined, so that optimizers skip it as they do on one rank.
// Several backward passes before an optimizer step accumulate.
//
// Ordering:      every rank runs the same backward passes in the same order.
// Errors:        backward() throws what Group throws. After a backward pass that throws on every
//                rank, another one may follow.
// Thread safety: the thread that runs backward.
// Lifetime:      the module must outlive this object, which owns the memory of its gradients.

#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "trireme/codec/codec.h"
#include "trireme/comm/group.h"

namespace trireme::parallel {

class Replicas {
 public:
  struct Options {
    std::int64_t bucket_size = 4 << 20;  // bytes
    // Before each forward pass all ranks have rank 0's buffers (running statistics).
    bool has_shared_buffers = true;
    // Gradients may arrive in parts, as with activation recomputation; buckets are then sent at the
    // end of backward.
    bool is_in_parts = false;
    // Encodes float32 gradients, with error feedback; null: none. Residuals are not saved.
    std::shared_ptr<const codec::Codec> codec{};
  };

  Replicas(torch::nn::Module& module, const comm::Group& group, const Options& options);
  Replicas(torch::nn::Module& module, const comm::Group& group)
      : Replicas(module, group, Options()) {}
  ~Replicas();
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;

  // While a Pause exists, backward passes accumulate gradients on each rank without communication;
  // the next backward pass after it synchronizes them.
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

  // Gives rank 0's buffers to all ranks. Each synchronized backward pass does this, too.
  void share_buffers();

 private:
  class Reduction;
  std::unique_ptr<Reduction> reduction_;
};

}  // namespace trireme::parallel
