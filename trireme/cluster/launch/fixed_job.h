// FixedJob is the policy of a job that is not elastic: all ranks start together, and the first one
// that fails ends the job.

#pragma once

#include "trireme/cluster/launch/job_policy.h"

namespace trireme::cluster::launch {

class FixedJob final : public JobPolicy {
 public:
  using JobPolicy::JobPolicy;

  void begin(bool /*is_successor*/) override {}
  void supervise() override;
  bool is_over() const override { return is_over_; }
  void on_request(const job::ControlRequest& request) override;
  void end() override { is_over_ = true; }

  void on_ended(const RankExit& exit, const std::string& failure) override;
  // A lost host ends such a job, so its ranks are never in doubt.
  void on_unreachable(int /*rank*/) override {}
  void on_given_up(const std::string& /*why*/, int /*left*/) override {}
  int wanted() const override { return spec().ranks; }
  bool is_done() const override { return false; }

 private:
  bool is_over_ = false;  // all ranks were started
};

}  // namespace trireme::cluster::launch
