// Recovery brings a job through deaths, joins and changes of its size: whoever lives agrees on who
// goes on, the step that was cut short ends for all of them or is run again, and everybody has the
// same state when it returns.
//
// Nothing is read from disk, and no process starts again that did not die.
//
//   forward  some rank had prepared the step: every rank's gradients were summed up, and those who
//            live make the update, that of the dead one included
//   back     nobody had: the step is run again. Gradients of finished slots stay where they can
//   (see
//            ElasticSync::keeps_micro_batches()), and those who live share what the dead one had to
//            do
//
// Failure: Aborted where this worker is to go (see ElasticWorld); what cannot be got over is thrown
// on. Threads: one.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/train/job.h"
#include "trireme/train/recipe/data_digest.h"
#include "trireme/train/recovery/elastic_world.h"
#include "trireme/train/report/progress.h"

namespace trireme::train {

// What all ranks of a job hold alike between two steps, beside tensors.
struct JobState {
  Progress progress;
  std::int64_t attended_at = 0;  // the last step whose evaluation and checkpoint are done
  std::int64_t evaluated_at = -1;
  std::int64_t saved_at = -1;
  std::optional<double> score{};  // of the weights as they are
  bool is_score_saved = false;
  bool is_open = false;  // on all of them: begun, or read from a checkpoint
  bool is_stopping = false;
  std::optional<double> broken_loss{};  // of the last step, where it was not finite
  int not_finite = 0;                   // such steps in a row
  bool is_repeated = false;             // the next step was begun before
  std::uint64_t assignment = 0;         // whose gradients stay: see Turn
  int micro_batches = 0;                // of the next step, as it was begun
  int redone = 0;                       // of them, those whose work is lost
  std::vector<int> owners{};            // by slot, of the next step
  std::vector<std::int64_t> weights{};  // of the slots; empty: all alike
  double peak_flops = 0;                // of a rank, as it was measured
  DataDigest data{};                    // that it is trained on

  std::string to_json() const;
  static JobState from_json(const std::string& json);
  // Mismatch where `all`, the course of rank `source`, has come to another step than this one. A
  // job that is not open has come to none: a death may find some ranks resumed and others not.
  void expect_steps_of(const JobState& all, std::int64_t source) const;
};

class Recovery {
 public:
  struct Options {
    ElasticWorld* world = nullptr;
    Job* job = nullptr;
    std::function<JobState()> job_state;          // as it is here
    std::function<void(const Outcome&)> advance;  // a step ended after all
    std::function<void(const JobState&)> adopt;   // what all go on with
    // With the group as it is now: a collective that others hold, too, such as their checkpoints'.
    std::function<void()> regroup;
  };
  explicit Recovery(Options options) : options_(std::move(options)) {}

  // What happened, for whoever tells people.
  struct Incident {
    std::vector<cluster::membership::Gone> gone;
    std::string how;  // "rolled forward", "run again", "between two steps"
    double seconds = 0;
    int workers = 0;            // now
    std::vector<int> joined{};  // their numbers
    int micro_batches = 0;      // of the step that was begun
    int redone = 0;  // of them, those that are run again; at most, where one dies after another

    void count(const JobState& all);
  };

  // The worker has joined: everybody in its epoch calls this.
  Incident begin();
  // A member is lost.
  Incident survive();
  // Between two steps: takes in who waits, lets go who is not wanted.
  Incident change();

  // Whether others can go on after this error.
  static bool is_loss(const Error& error) { return error.code() == ErrorCode::PeerLost; }

 private:
  Incident turn_over(bool takes_new, bool is_first);
  ElasticWorld::Turnover go_on(bool takes_new);
  void take_group();
  std::string resolve(const ElasticWorld::Turnover& change);
  JobState share_job_state(bool is_back);
  void reassign(JobState& job_state) const;
  void count_redone(JobState& job_state) const;
  parallel::ElasticSync& elastic() const;

  Options options_;
  std::vector<int> assigned_to_;   // by rank: the workers to whom slots are dealt
  bool is_join_complete_ = false;  // whoever is new in this epoch has the state
};

}  // namespace trireme::train
