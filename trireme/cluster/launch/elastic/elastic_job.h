// ElasticJob is the policy of a job whose workers may join, leave and be replaced while it runs: it
// starts missing workers, restarts the job when no worker is left, and changes the number of
// workers on request.
//
// Supervision makes the decisions; the epochs come from the store (StoreLink). The workers, and
// what was decided about them, are recorded in worker_list.json in the job's folder, for the
// launcher that takes over when this one is killed.
//
// Errors:        begin() throws Corrupt if a dead launcher left no such record. Later failures end
//                the job, through Ending.

#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "trireme/cluster/launch/elastic/lone_watch.h"
#include "trireme/cluster/launch/elastic/store_link.h"
#include "trireme/cluster/launch/elastic/supervision.h"
#include "trireme/cluster/launch/job_policy.h"

namespace trireme::cluster::launch {

class ElasticJob final : public JobPolicy {
 public:
  // REQUIRES: options.spec->elastic.
  explicit ElasticJob(Options options);

  void begin(bool is_successor) override;
  void supervise() override;
  // Only as long as supervise() decides anything.
  Deadline next() const override {
    const bool decides = link_ && !ending_.has_begun() && !supervision_.is_done();
    return decides ? supervision_.next() : Deadline::never();
  }
  int event() const override { return link_ ? link_->event() : -1; }
  bool is_over() const override { return supervision_.is_over(); }
  void set_paused(bool is_paused) override;
  void on_request(const job::ControlRequest& request) override;
  void end() override {
    link_.reset();
    joins_.clear();  // which fails them
  }

  void on_ended(const RankExit& exit, const std::string& failure) override;
  void on_unreachable(int worker) override { supervision_.on_unreachable(worker); }
  void on_found(int worker) override { supervision_.on_found(worker, steady_clock().now()); }
  void on_given_up(const std::string& why, int left) override;
  int wanted() const override { return supervision_.wanted(); }
  bool is_done() const override { return supervision_.is_done(); }

 private:
  void take_over();
  // Records the workers.
  void note() const;
  void read_store();
  void act(const Decision& decision);
  void start_first();
  void start(int count, const std::vector<std::string>& arguments);
  void restart(int count);
  void set_wanted(int count);
  std::string scale(const job::ControlRequest& request);
  void answer_join(int worker);
  void note_loss(const RankExit& exit, const std::string& failure);
  void say_losses();
  void on_refused(int worker, TimePoint now);
  void on_not_started(const Error& error);

  const Elastic& elastic_;
  RankControl& ranks_;
  RankRecords& records_;
  Ending& ending_;
  Supervision supervision_;
  LoneWatch lone_watch_;  // must outlive the link
  std::unique_ptr<StoreLink> link_;
  // Losses that the user was not told of yet: if they end the job, only its report names them.
  std::vector<std::string> losses_;
  // Requests for one more worker that was not started yet.
  std::deque<std::shared_ptr<net::Caller>> joins_;
  int size_;  // how many workers start together
  bool has_started_ = false;
  bool is_paused_ = false;
  bool has_scaled_ = false;
};

}  // namespace trireme::cluster::launch
