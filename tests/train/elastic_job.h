// ElasticJob trains a small elastic job with the real programs, knows what one process makes of the
// same recipe, and demands that nothing is left behind.

#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "tests/folders.h"
#include "tests/train/tiny_job.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/checkpoint.h"
#include "trireme/testing/command_process.h"
#include "trireme/testing/host_state.h"

namespace trireme::train {

inline constexpr int kElasticSteps = 40;
inline constexpr const char* kElasticRecipe = R"(
[model]
kind = "mlp"
hidden_sizes = [48, 32]
dropout = 0.1
[data]
kind = "synthetic"
task = "classification"
sizes = [24]
classes = 5
count = 200
test_count = 16
[train]
global_batch_size = 24
steps = 40
logical_ranks = 8
[optim]
kind = "adamw"
max_grad_norm = 1.0
lr = 0.01
[sync]
bucket_size = "4 KiB"
[checkpoint]
every = 5
[eval]
every = 9
[elastic]
enabled = true
max_restarts = 1000000
)";

class ElasticJob : public ::testing::Test {
 protected:
  ElasticJob() { write_file_atomically(recipe(), std::string_view(kElasticRecipe)); }
  void TearDown() override {
    for (const std::string& left : state_.leftovers(Deadline::after(std::chrono::seconds(60)))) {
      ADD_FAILURE() << "left behind: " << left;
    }
  }

  std::string recipe() const { return (folder_.path() / "elastic.toml").string(); }
  std::filesystem::path output() const { return folder_.path() / "job"; }

  testing::CommandProcess::Options job(const std::string& chaos, Words more = {}) const {
    Words words{build_folder() + "/trireme", "train",    recipe(),         "-n",
                std::to_string(workers_),    "--output", output().string()};
    words.insert(words.end(), more.begin(), more.end());
    return {.command = words, .environment = {{"OMP_NUM_THREADS", "1"}, {"TRIREME_CHAOS", chaos}}};
  }

  std::string events() const { return read_file(output() / "events.jsonl"); }

  // What one process makes of the same recipe.
  static Weights undisturbed(int steps = kElasticSteps, Words overrides = {}) {
    at::set_num_threads(1);
    overrides.push_back("train.steps=" + std::to_string(steps));
    const config::Config config =
        config::read_config(recipe_schema(built_in_kinds()),
                            {.files = {{"elastic.toml", kElasticRecipe}}, .overrides = overrides});
    Job job = open_job(config, built_in_kinds());
    for (int step = 0; step < steps; ++step) job.step->run(step);
    return weights_of(*job.model);
  }

  // The job's last checkpoint, without which the test has failed.
  checkpoint::Checkpoint newest() const {
    auto found = checkpoint::Checkpoint::newest_whole(output() / "checkpoints");
    if (!found.checkpoint) throw Error(ErrorCode::NotFound, "no checkpoint");
    return *found.checkpoint;
  }
  // What it has of these.
  Weights saved(const Weights& like) const {
    const checkpoint::Checkpoint from = newest();
    Weights all;
    for (const auto& [name, value] : like) {
      all[name] = at::empty_like(value);
      from.read_into(name, all[name]);
    }
    return all;
  }

  void expect_same_bits_as(const Weights& wanted) const {
    for (const auto& [name, read] : saved(wanted)) {
      EXPECT_TRUE(read.equal(wanted.at(name))) << name;
    }
  }

  int workers_ = 4;
  TemporaryFolder folder_{"elastic-train"};
  testing::HostState state_;
};

}  // namespace trireme::train
