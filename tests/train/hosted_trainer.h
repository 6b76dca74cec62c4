// Whole jobs of threads that believe to be on hosts as they are told.

#pragma once

#include "tests/comm/hosted_ranks.h"
#include "tests/train/trainer_fixture.h"

namespace trireme::train {

using Hosts = std::vector<std::string>;  // by rank

class HostedTrainer : public TrainerTest {
 protected:
  void run_hosted(const std::string& folder, const Words& words, const Hosts& hosts,
                  bool is_resumed) {
    at::set_num_threads(1);
    const Kinds kinds = tiny_kinds();
    const config::Config config = tiny_config("mlp", words, kinds);
    comm::run_hosted_ranks(
        hosts, comm::Transport::Auto, [&](cluster::World&, const comm::Group& group) {
          Job job = open_job(config, kinds, group);
          Reporter reporter(Reporter::Options{});
          Trainer trainer(job,
                          {.output = at(folder), .is_resumed = is_resumed, .reporter = &reporter});
          trainer.run();
          group.barrier().wait();
        });
  }

  // Trains, takes the checkpoints after step 9 away as if they had never been, and goes on.
  void expect_exact_resume(const std::string& name, const Words& words, const Hosts& hosts) {
    Words saved = words;
    saved.insert(saved.end(), {"checkpoint.every=3", "checkpoint.keep=20"});
    run_hosted("whole_" + name, saved, hosts, false);
    run_hosted("cut_" + name, saved, hosts, false);
    for (std::int64_t step = 10; step <= 20; ++step) {
      fs::remove_all(checkpoint_at("cut_" + name, step));
    }
    run_hosted("cut_" + name, saved, hosts, true);
    expect_same_end("whole_" + name, "cut_" + name);
  }
};

}  // namespace trireme::train
