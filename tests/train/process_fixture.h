// What tests of the real programs have in common: a tiny recipe, and `trireme` as a person runs it.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/folders.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/testing/command_process.h"
#include "trireme/testing/host_state.h"

namespace trireme::train {

using Line = std::vector<std::string>;

inline constexpr const char* kTinyRecipe = R"(
[model]
kind = "mlp"
hidden_sizes = [16]
dropout = 0.1
[data]
kind = "synthetic"
task = "classification"
sizes = [6]
classes = 3
count = 200
test_count = 20
[train]
global_batch_size = 12
steps = 60
logical_ranks = 3
[optim]
kind = "adamw"
max_grad_norm = 1.0
[checkpoint]
every = 1
[eval]
every = 7
)";

struct Ran {
  int code = 0;
  std::string out, error;
};

class TrainProcess : public ::testing::Test {
 protected:
  TrainProcess() { write_file_atomically(recipe(), kTinyRecipe); }
  void TearDown() override {
    for (const std::string& left : state_.leftovers(Deadline::after(std::chrono::seconds(60)))) {
      ADD_FAILURE() << "left behind: " << left;
    }
  }

  std::string recipe() const { return (folder_.path() / "tiny.toml").string(); }
  std::filesystem::path at(const std::string& job) const { return folder_.path() / job; }

  static testing::CommandProcess::Options trireme(Line words) {
    words.insert(words.begin(), build_folder() + "/trireme");
    return {.command = words, .environment = {{"OMP_NUM_THREADS", "1"}}};
  }
  static Ran run(const Line& words) {
    testing::CommandProcess process(trireme(words));
    const int code = process.wait_exit(Deadline::after(std::chrono::minutes(2)));
    return {code, process.out(), process.error()};
  }
  Ran train(const std::string& job, Line more = {}) const {
    more.insert(more.begin(), {"train", recipe(), "--output", at(job).string()});
    return run(more);
  }

  checkpoint::Checkpoint newest(const std::string& job) const {
    auto found = checkpoint::Checkpoint::newest_whole(at(job) / "checkpoints");
    if (!found.checkpoint) throw Error(ErrorCode::NotFound, "no checkpoint of " + job);
    return *found.checkpoint;
  }
  void expect_same_end(const std::string& a, const std::string& b, std::int64_t step = 60) const {
    const auto left = newest(a);
    const auto right = newest(b);
    EXPECT_EQ(left.step(), step);
    EXPECT_EQ(right.step(), step);
    EXPECT_EQ(left.names(), right.names());
    for (const std::string& name : left.names()) {
      EXPECT_TRUE(left.read(name).equal(right.read(name))) << name;
    }
  }

  bool has_checkpoint_from(const std::string& job, std::int64_t step) const {
    for (std::int64_t s = step; s <= 60; ++s) {
      if (std::filesystem::exists(at(job) / "checkpoints" / checkpoint::format::folder_name(s)))
        return true;
    }
    return false;
  }

  TemporaryFolder folder_{"train-process"};
  testing::HostState state_;
};

}  // namespace trireme::train
