// StageExchange carries activations and their gradients between the stages of a replica, which are
// on different ranks of the pipe axis. Nothing waits in a send: tensors are kept until they have
// arrived, and finish() waits for all.
//
//   exchange.post_activations(boundary, shape);         // on the later stage: a receive begins
//   exchange.send_activations(boundary, shape, out);    // on the earlier one
//   Activations in = exchange.take_activations(boundary, shape);
//
// Shapes:        what a stage passes on is described once for each `shape` of the input: the first
//                time a description travels ahead of the tensors, and the receive begins when it
//                has arrived; later times both ranks know it. A stage whose output changes although
//                its input has the same shape fails with Mismatch.
// Progress:      ranks of one host read what was sent while its sender computes. Between hosts, a
//                tensor moves while its sender is in a call of this class or waits.
// Errors:        what Group throws; Deadline if a wait takes longer than its timeout. Unsupported
//                for too many tensors.
// Thread safety: the thread that runs the passes.

#pragma once

#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trireme/comm/group.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/model/activations.h"
#include "trireme/parallel/pipeline/stage_placement.h"

namespace trireme::parallel::pipeline {

// What passes from a stage to the next one, or back: activations that `stage` produces, or their
// gradients.
struct Boundary {
  int stage = 0;
  int micro_batch = 0;
};

// Of one tensor.
struct TensorShape {
  at::ScalarType type = at::kFloat;
  std::vector<std::int64_t> sizes;
  bool has_gradient = false;
  friend bool operator==(const TensorShape&, const TensorShape&) = default;
};

// Of all activations: main, then those of these names, then the losses.
struct ActivationsShape {
  std::vector<std::string> names;
  std::vector<TensorShape> tensors;

  static ActivationsShape of(const model::Activations& activations);
  friend bool operator==(const ActivationsShape&, const ActivationsShape&) = default;
};

class StageExchange {
 public:
  // `group`: the ranks of the pipe axis.
  StageExchange(comm::Group group, StagePlacement placement)
      : group_(std::move(group)), placement_(std::move(placement)) {}

  const StagePlacement& placement() const noexcept { return placement_; }
  int rank() const noexcept { return group_.rank(); }

  // On the rank of the stage, and on that of the stage after it.
  void send_activations(const Boundary& at, const std::string& shape,
                        const model::Activations& out);
  void post_activations(const Boundary& at, const std::string& shape);
  model::Activations take_activations(const Boundary& at, const std::string& shape);

  // The other way: gradients of the tensors that have one, in their order. Undefined ones are
  // sent as zeros.
  void send_gradients(const Boundary& at, const std::string& shape,
                      std::vector<at::Tensor> gradients);
  void post_gradients(const Boundary& at, const std::string& shape);
  std::vector<at::Tensor> take_gradients(const Boundary& at, const std::string& shape);

  // A tied weight, or its gradient. `index`: among all tied weights; each way has its own.
  void send_tied(int index, int micro_batch, const at::Tensor& tensor, int rank);
  void receive_tied(int index, int micro_batch, const at::Tensor& into, int rank);

  // Seconds that passes have waited for tensors, in total.
  double waited() const noexcept { return waited_; }
  // Makes progress without waiting, and lets go of what has arrived.
  void poll();
  void finish();

 private:
  struct Incoming {
    std::vector<at::Tensor> tensors;
    std::vector<comm::TensorWork> works;
  };
  using Key = std::pair<int, int>;  // of a boundary

  std::uint32_t tag(const Boundary& at, bool is_gradient, std::size_t index) const;
  void wait(comm::TensorWork& work);
  void send(const at::Tensor& tensor, int rank, std::uint32_t tag, const std::string& label);
  void send_shared(const at::Tensor& tensor, int rank, std::uint32_t tag, const std::string& label);
  Incoming receive(const std::vector<TensorShape>& shapes, const Boundary& at, int rank,
                   bool is_gradient);
  std::vector<at::Tensor> arrived(Incoming incoming);
  Incoming receive_gradients(const Boundary& at, const ActivationsShape& own);
  void tell(const Boundary& at, const ActivationsShape& shape);
  ActivationsShape heard(const Boundary& at);
  ActivationsShape& known(const Boundary& at, const std::string& shape);

  comm::Group group_;
  StagePlacement placement_;
  std::map<std::pair<int, std::string>, ActivationsShape> shapes_;  // by stage and input's shape
  std::map<Key, Incoming> activations_, gradients_;                 // that were posted
  std::list<comm::TensorWork> sends_;
  double waited_ = 0;
};

}  // namespace trireme::parallel::pipeline
