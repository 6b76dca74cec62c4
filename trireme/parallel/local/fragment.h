// Fragment is a part of a model that replicas bring together by itself: of one fragment, all of it.
//
//   fragment.depart(step);      // what this replica has come to is to be sent
//   fragment.send();            // and is on its way
//   ... steps may be made meanwhile
//   fragment.arrive();          // what all have come to is here, and nothing has changed yet
//   fragment.land();            // and now it is in its place
//
// Where a rank is lost on the way, the others regroup() and send() once more: what each has to send
// is as it was, and the mean is then over those who are left.
//
// With an outer step (an anchor), what travels is how far the replica is from where all were
// together last, backwards: a gradient, whose mean moves those weights. What the replica has moved
// while it travelled stays on top of them. Otherwise weights travel, and their mean takes their
// place, or in a pair (gossip) that of the two, with what each has moved meanwhile on top.
//
// Saved: outer weights and momentum by the first replica, and what is on its way as it arrives:
// whoever goes on from there has the mean of those who sent it, however many go on.
// Threads: one. send() and arrive() are collectives of the replicas, or of a pair's two.

#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "trireme/parallel/local/flat_model.h"
#include "trireme/parallel/local/rounds_config.h"

namespace trireme::parallel::local {

enum class Gathering { Average, Outer, Pair };

class Fragment {
 public:
  // Where this rank is among replicas.
  struct Seat {
    comm::Group across = comm::Group::solo();  // to whom it sends
    comm::Group inside = comm::Group::solo();  // who hear from the first of them what has arrived
    int number = 0;                            // of its replica
    int count = 1;                             // of replicas
    bool is_teller = true;                     // whether it saves what all ranks know
  };
  struct Options {
    FlatModel::Options flat;  // with the group of the seat
    Seat seat{};
    Gathering gathering = Gathering::Average;
    Pace pace{};
    bool has_anchor = false;  // whatever the gathering
    std::int64_t index = 0;   // among the fragments
  };
  explicit Fragment(Options options);

  // REQUIRES: nothing of it is on its way.
  void depart(std::int64_t step);
  // Of a pair who stays alone has nothing to send.
  void send();
  // Moves on without waiting.
  void poll();
  // Waits. What has arrived stays where the group does not.
  void arrive();
  // The same, and sees what the replica is now. REQUIRES: nobody writes it.
  void prepare();
  // Writes this rank's parameters. REQUIRES: prepare(), and no step since.
  void land();
  bool is_travelling() const noexcept { return launched_ >= 0; }
  // The step in which what is on its way departed.
  std::int64_t launched() const noexcept { return launched_; }
  // Of what was sent last.
  Traffic traffic() const noexcept { return traffic_; }

  // Of this replica from where all were together last, and of those weights.
  struct Squares {
    double moved = 0;
    double norm = 0;
  };
  Squares squares();

  // What is on its way is given up.
  void forget();
  // From now on with these. What was on its way is to be sent again, but for what all know.
  void regroup(const Seat& seat);
  // What a rank that comes has to have: outer weights and momentum, and what was sent and has
  // arrived, where there is any.
  std::vector<at::Tensor> outer_state() const;
  // Whether all have what is on its way: it comes from a checkpoint.
  bool is_known() const noexcept { return is_known_; }
  void go_along(std::int64_t launched, bool is_known);

  std::vector<checkpoint::Piece> own_pieces();
  // REQUIRES: the parameters are the first replica's.
  void restore(const checkpoint::Checkpoint& from);

 private:
  int number() const noexcept { return options_.seat.number; }
  bool is_speaker() const noexcept { return options_.seat.inside.rank() == 0; }
  // Whether replicas move on while a sum travels.
  bool is_overlapped() const noexcept { return options_.pace.overlap > 0; }
  bool is_pair() const noexcept { return options_.gathering == Gathering::Pair; }
  void send_to_other();
  bool restore_flight(const checkpoint::Checkpoint& from);
  std::string sent_name() const;
  std::string mean_name() const;
  std::string launched_name(int number) const;

  Options options_;
  FlatModel flat_;
  at::Tensor work_;      // what is sent
  at::Tensor anchor_;    // the weights of all when they were together last, where they are needed
  at::Tensor momentum_;  // of the outer step
  at::Tensor sent_;      // this replica's weights when they departed, where it goes on
  at::Tensor now_;       // and when it is about to land, where several ranks write it
  at::Tensor partner_;   // what came from the other of a pair
  std::vector<comm::TensorWork> meeting_;  // to and from that one
  bool is_alone_ = false;                  // this one has no other
  at::Tensor flight_;                      // for a checkpoint: launched_
  std::int64_t launched_ = -1;
  bool is_summed_ = false;  // what is on its way has arrived
  bool is_known_ = false;   // and at all others, whoever dies
  Traffic traffic_;
};

// A model's parts for as many fragments: neighbours, of about as many elements each; some may have
// none.
std::vector<FlatModel::Options> cut_in_fragments(const FlatModel::Options& whole,
                                                 std::int64_t fragments);

}  // namespace trireme::parallel::local
