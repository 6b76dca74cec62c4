// Fragment is a part of a model that replicas synchronize independently of the other parts. A model
// with one fragment is synchronized as a whole.
//
//   fragment.depart(step);      // remembers this replica's values
//   fragment.send();            // begins to send them
//   ... steps may run meanwhile
//   fragment.arrive();          // the mean is received; no parameter has changed yet
//   fragment.land();            // updates the parameters
//
// If a rank is lost while values are in flight, the other ranks regroup() and send() again. Each
// still has the values that it sent, and the mean is then over the remaining ranks.
//
// With an outer step (an anchor), a replica sends the difference between the last synchronized
// weights and its own. The mean of these differences is the gradient of the outer step, which moves
// the synchronized weights; what the replica has moved while it was in flight is added on top.
// Otherwise weights are sent, and replaced by their mean over all replicas, or over a pair
// (gossip), again plus what each replica has moved meanwhile.
//
// Saved:         outer weights and momentum by the first replica, and the mean of values in flight
//                once it has arrived. A job that resumes with another number of replicas uses the
//                mean of those that sent it.
// Errors:        what Group throws.
// Thread safety: one thread at a time. send() and arrive() are collectives of the replicas, or of
//                the two of a pair.

#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "trireme/parallel/local/flat_model.h"
#include "trireme/parallel/local/rounds_config.h"

namespace trireme::parallel::local {

enum class CombineRule { Average, Outer, Pair };

class Fragment {
 public:
  // This rank's position among the replicas.
  struct Role {
    comm::Group across = comm::Group::solo();  // the ranks that it exchanges with
    comm::Group inside = comm::Group::solo();  // its rank 0 broadcasts the mean
    int number = 0;                            // of its replica
    int count = 1;                             // of replicas
    bool is_saver = true;                      // whether it saves the state that all ranks share
  };
  struct Options {
    FlatModel::Options flat;  // with the group of the role
    Role role{};
    CombineRule gathering = CombineRule::Average;
    RoundSettings pace{};
    std::int64_t index = 0;  // among the fragments
  };
  explicit Fragment(Options options);

  // REQUIRES: !is_travelling().
  void depart(std::int64_t step);
  // A rank without a partner in this round (gossip) sends nothing.
  void send();
  // Makes progress without waiting.
  void poll();
  // Waits for the mean, which stays available if the group fails afterwards.
  void arrive();
  // arrive(), and copies the replica's current values if several ranks hold it. REQUIRES: no rank
  // writes them meanwhile.
  void prepare();
  // Writes this rank's parameters. REQUIRES: prepare(), and no step since.
  void land();
  bool is_travelling() const noexcept { return launched_ >= 0; }
  // The step in which the values in flight departed; -1 if none are in flight.
  std::int64_t launched() const noexcept { return launched_; }
  // The traffic of the last send().
  Traffic traffic() const noexcept { return traffic_; }

  // Squared norms: of this replica's distance from the last synchronized weights, and of those
  // weights. REQUIRES: an anchor, which an outer step, a codec and RoundLimits::divergence need.
  struct Squares {
    double moved = 0;
    double norm = 0;
  };
  Squares squares();

  // Gives up the values in flight.
  void forget();
  // Uses these groups from now on. The caller sends the values in flight again, unless is_known().
  void regroup(const Role& role);
  // The state that a new rank needs: outer weights and momentum, and, with overlap, the values that
  // were sent and their mean.
  std::vector<at::Tensor> outer_state() const;
  // Whether all ranks have the mean in flight already, because it was read from a checkpoint.
  bool is_known() const noexcept { return is_known_; }
  // Adopts another rank's launched() and is_known().
  void go_along(std::int64_t launched, bool is_known);

  std::vector<checkpoint::Piece> own_pieces();
  // REQUIRES: the parameters are the first replica's.
  void restore(const checkpoint::Checkpoint& from);

 private:
  int number() const noexcept { return options_.role.number; }
  bool is_speaker() const noexcept { return options_.role.inside.rank() == 0; }
  // Whether replicas run steps while a sum is in flight.
  bool is_overlapped() const noexcept { return options_.pace.overlap > 0; }
  bool is_pair() const noexcept { return options_.gathering == CombineRule::Pair; }
  void send_to_other();
  bool restore_flight(const checkpoint::Checkpoint& from);
  std::string sent_name() const;
  std::string mean_name() const;
  std::string launched_name(int number) const;

  Options options_;
  FlatModel flat_;
  at::Tensor work_;      // the values to send, then their mean
  at::Tensor anchor_;    // the last synchronized weights, if needed
  at::Tensor momentum_;  // of the outer step
  at::Tensor sent_;      // with overlap: this replica's weights when they departed
  at::Tensor now_;       // and before land(), if several ranks hold the replica
  at::Tensor partner_;   // the weights received from the partner of a pair
  std::vector<comm::TensorWork> meeting_;  // the exchange with the partner
  bool is_alone_ = false;                  // this rank has no partner
  at::Tensor flight_;                      // launched_, as it is saved
  std::int64_t launched_ = -1;
  bool is_summed_ = false;  // the mean has arrived
  bool is_known_ = false;   // and on all other ranks, so that no death can lose it
  Traffic traffic_;
};

}  // namespace trireme::parallel::local
