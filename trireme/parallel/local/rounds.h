// Rounds is the agreement of replicas that are each trained for some steps, a round, as if there
// were no others, and then brought together. A replica is one rank's, or the ranks of a host train
// it together and agree among themselves in every step.
//
//   Average   weights become the mean of all (local SGD); with a codec, what replicas have moved
//             since the last round is what is encoded
//   Outer     the mean of what replicas have moved is the gradient of an outer step with Nesterov's
//             momentum (DiLoCo)
//   Pair      two replicas each, other ones in every round, take the mean of theirs (gossip)
//
// The first round begins with the step `pace.begin`. Inside a round replicas agree on nothing but
// when to stop, and whether a step was sound. Optimizer state is each replica's own; join() makes
// one of all. Of a replica that several ranks hold, each sends to other replicas what it updates of
// it.
//
// Saved: the first replica as the model, and beside it the others' with their buffers, the outer
// weights and momentum.
//
// Deaths: where ranks come and go (is_elastic), a step ends for all who live or for none of them,
// and so does a round: nothing is in its place before all have everything. What a dead replica had
// come to since the last round is lost with it; the round goes on with the others, and its mean is
// over those who are there. Outer weights and momentum are the same on all ranks and stay. What was
// on its way is sent again, as it was, by those who live: it lands for all of them or for none.
// Newcomers are let in at the end of a round, and others leave then: before that all is brought
// together and nothing is on its way, so that nobody takes anything along. A newcomer begins with
// what somebody has. A replica that the
// ranks of a host hold lives as long as one of them: what they share they change after noting it
// where the others find it, and these do the rest.
//
// Threads, failure, lifetime: as GradientSync.

#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/model/interruption.h"
#include "trireme/parallel/apart.h"
#include "trireme/parallel/elastic_sync.h"
#include "trireme/parallel/local/fragment.h"
#include "trireme/parallel/local/round_end.h"
#include "trireme/parallel/local/rounds_config.h"

namespace trireme::parallel::local {

inline constexpr FaultPoint kRoundOver{"round.over"};     // and nothing is sent
inline constexpr FaultPoint kGathered{"round.gathered"};  // and nothing is in its place
inline constexpr FaultPoint kLanded{"round.landed"};      // a fragment, on this rank

class Rounds final : public GradientSync,
                     public ElasticSync,
                     private CommonModel,
                     private SavedState,
                     private model::Interruption {
 public:
  struct Options {
    Replica replica;
    std::vector<at::Tensor> buffers{};
    FlatModel::Options flat;  // without parameters, parts and group
    Gathering gathering = Gathering::Average;
    Pace pace{};
    // Ranks may come and go; each has a replica of its own then, or replicas are led.
    bool is_elastic = false;
    Faults* faults = nullptr;
  };
  explicit Rounds(Options options);

  void begin_step(const StepPlan& plan) override;
  void begin_micro_batch(std::size_t index) override;
  void end_micro_batch() override;
  Gradients reduce(const Share& mine) override;
  double total(double mine) override { return apart_.total(mine); }
  void update(const Update& how) override;
  void drop() override;
  PassServices passes() override;
  CommonModel& model() override { return *this; }
  SavedState& saved() override { return *this; }

  StepStatus step_status() const override { return status_; }
  bool keeps_micro_batches() const override { return false; }
  void survive(const comm::Group& group, std::vector<int> places) override;
  std::optional<Gradients> recall(std::int64_t step, std::span<const Prepared> told) override;
  void finish_failed_ranks() override;
  void regroup(bool is_new) override;

 private:
  void join() override;
  void settle() override { apart_.settle(); }
  void check() override { apart_.check(); }
  std::string first_not_finite() const override { return apart_.first_not_finite(); }
  std::vector<checkpoint::Piece> pieces() override { return apart_.pieces(); }
  void restored() override {
    apart_.restored();
    has_state_ = true;
  }
  std::vector<checkpoint::Piece> own_pieces() override;
  void restore_own(const checkpoint::Checkpoint& from) override;
  std::optional<Holders> holders() const override { return apart_.holders(); }

  // What all do together or nobody. The end of a round is theirs who made the step, and is done
  // again by those who live where a death cut it short; what comes after it is not: at the job's
  // end all call join() again.
  enum class Occasion : std::int64_t { Prepare, Round, Arrival, AllAtOnce, Join };
  struct Deed {
    std::int64_t step = -1;  // none
    Occasion occasion = Occasion::Round;

    bool is_join() const noexcept { return occasion == Occasion::Join; }
    // What a host's ranks find of one that has died.
    std::int64_t mark() const noexcept {
      return ((step + 1) << 8) + (static_cast<std::int64_t>(occasion) << 4);
    }
    bool operator==(const Deed&) const = default;
  };
  // What happens to fragments at the end of a step.
  struct Turn {
    explicit Turn(std::size_t fragments) : lands(fragments), departs(fragments) {}

    std::vector<bool> lands;    // by fragment: it is brought together
    std::vector<bool> departs;  // and it goes on its way
    bool has_buffers = false;   // these, too, are brought together

    bool is_any_landing() const { return has(lands, true); }
    bool is_all_landing() const { return !has(lands, false); }
    bool is_any() const { return has_buffers || has(lands, true) || has(departs, true); }
    static bool has(const std::vector<bool>& all, bool which) {
      return std::find(all.begin(), all.end(), which) != all.end();
    }
  };
  // What a rank brings to a new group.
  struct Report {
    bool has_state = false;
    Deed done{};
  };

  double distance();
  void end_step();
  bool has_turns(bool is_last);
  bool is_over() const;
  Gradients told(Gradients all);
  void bring_together(Occasion occasion);
  bool is_shared() const;
  void do_together(Deed deed);
  void gather(Deed deed);
  void send(Fragment& fragment);
  void take(Deed deed);
  bool sends_at_once(Deed deed) const;
  void mark(std::int64_t what);
  static std::int64_t mark_of(const Prepared& prepared);
  static Prepared prepared_of(std::int64_t mark);
  void throw_if_pointless() const override;
  std::vector<Report> reports(bool is_new) const;
  void take_done(const std::vector<Report>& all);
  void drop_doubtful(bool has_state);
  void share(const std::vector<Report>& all);
  void give_replica(int source, bool is_given);
  void give_outer(const comm::Group& group, int source, bool is_given);
  void average_state();
  void put_joined();
  std::vector<std::int64_t> numbers() const;
  void go_along(std::span<const std::int64_t> numbers);
  void poll();
  bool is_overlapped() const noexcept { return options_.pace.overlap > 0; }
  bool is_in_pairs() const noexcept { return options_.gathering == Gathering::Pair; }
  GradientSync& own() const noexcept { return *apart_.replica().own; }
  int number() const { return apart_.replica().number(); }
  // One rank says what holds for all of them.
  bool is_teller() const { return number() == 0 && apart_.replica().inside.rank() == 0; }
  bool is_led() const noexcept { return apart_.replica().is_led(); }
  Fragment::Seat seat() const;

  Options options_;
  Apart apart_;
  std::vector<Fragment> fragments_;
  RoundEnd end_;
  StepPlan plan_;
  bool is_ending_ = false;    // a rank wants the round to end with this step
  bool is_changing_ = false;  // ranks come or leave after it
  bool is_alike_ = true;      // no replica has moved since they were brought together
  at::Tensor saved_alike_;    // the same, as it is saved
  Traffic traffic_;           // not yet told
  StepStatus status_;
  Deed due_;                                  // and not done here
  Deed done_;                                 // last
  Turn turn_{0};                              // of what is due
  bool is_gathered_ = false;                  // what is due: all that it takes is here
  std::map<std::string, at::Tensor> joined_;  // for the job's end: values and state of all
  std::vector<at::Tensor> averaged_;          // buffers, likewise and for a round's end
  std::vector<at::Tensor> first_buffers_;     // as they were when the step began
  std::int64_t last_mark_ = 0;                // of those of this replica who died in this step
  bool is_surviving_ = false;                 // from survive() to regroup()
  bool has_state_ = false;                    // that all ranks share
};

}  // namespace trireme::parallel::local
