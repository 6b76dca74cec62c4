// Whole jobs in this process, on one rank or on threads, each in a folder of the test's own; data
// of which one sample is not a number, and data whose test samples ask the job to stop.

#pragma once

#include <atomic>
#include <filesystem>
#include <limits>

#include "tests/train/tiny_job.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/train/trainer.h"

namespace trireme::train {

namespace fs = std::filesystem;

// The synthetic samples, of which number 5 is poisoned.
class PoisonedSource final : public data::Source {
 public:
  explicit PoisonedSource(std::shared_ptr<const Source> of) : of_(std::move(of)) {}
  std::int64_t count() const override { return of_->count(); }
  const data::Form& form() const override { return of_->form(); }
  void read(std::int64_t sample, const data::SampleKey& key, void* input,
            void* target) const override {
    of_->read(sample, key, input, target);
    if (sample == 5) *static_cast<float*>(input) = std::numeric_limits<float>::quiet_NaN();
  }

 private:
  std::shared_ptr<const Source> of_;
};

// Reading a sample of this source asks the job to stop.
class AskingSource final : public data::Source {
 public:
  AskingSource(std::shared_ptr<const Source> of, std::atomic<bool>* stop)
      : of_(std::move(of)), stop_(stop) {}
  std::int64_t count() const override { return of_->count(); }
  const data::Form& form() const override { return of_->form(); }
  void read(std::int64_t sample, const data::SampleKey& key, void* input,
            void* target) const override {
    of_->read(sample, key, input, target);
    if (stop_ != nullptr) stop_->store(true);
  }

 private:
  std::shared_ptr<const Source> of_;
  std::atomic<bool>* stop_;
};

inline Kinds poisoned_kinds(std::atomic<bool>* asked = nullptr) {
  Kinds kinds = tiny_kinds();
  kinds.data.add<data::memory::SyntheticConfig>("asking", "", [asked](const auto& config) {
    const data::Sets sets = data::memory::open_synthetic(config);
    return data::Sets{sets.train, std::make_shared<AskingSource>(sets.test, asked)};
  });
  kinds.data.add<data::memory::SyntheticConfig>("poisoned", "", [](const auto& config) {
    const data::Sets sets = data::memory::open_synthetic(config);
    return data::Sets{std::make_shared<PoisonedSource>(sets.train), sets.test};
  });
  return kinds;
}

class TrainerTest : public ::testing::Test {
 protected:
  struct Ended {
    TrainingOutcome ending{};
    Progress progress;
    Weights weights;
  };

  // The whole job, every rank a thread.
  Ended run(const std::string& folder, const Words& overrides, bool is_resumed = false,
            int ranks = 1, std::atomic<bool>* stop = nullptr) {
    at::set_num_threads(1);
    const Kinds kinds = poisoned_kinds(stop);
    const config::Config config = tiny_config(model_, overrides, kinds);
    std::vector<comm::Group> groups{comm::Group::solo()};
    if (ranks > 1) groups = comm::connect_threads(ranks, {.timeout = timeout_});
    Ended ended;
    testing::run_rank_threads(ranks, [&](int rank) {
      Job job = open_job(config, kinds, groups[static_cast<std::size_t>(rank)]);
      Reporter reporter(rank == 0 ? reporting(folder) : Reporter::Options{});
      Trainer trainer(job, {.output = at(folder),
                            .is_resumed = is_resumed,
                            .allowed_changes = allowed_changes_,
                            .keep_recipe = [this] { ++recipes_kept_; },
                            .is_stop_wanted = stop,
                            .reporter = &reporter,
                            .faults = faults_});
      const TrainingOutcome ending = trainer.run();
      if (rank == 0) ended = {ending, trainer.progress(), weights_of(*job.model)};
      job.group.barrier().wait();
    });
    return ended;
  }

  // What people see goes to a file `screen` in the folder, from its beginning.
  Reporter::Options reporting(const std::string& folder) const {
    if (!is_reported_) return {};
    fs::create_directories(at(folder));
    write_file_atomically(at(folder) / "screen", "");
    return {.folder = at(folder), .terminal = (at(folder) / "screen").string()};
  }
  std::string said(const std::string& folder, const char* file) const {
    return read_file(at(folder) / file);
  }

  // One of them: every tensor of the last checkpoints is the same.
  void expect_same_end(const std::string& a, const std::string& b) const {
    const auto left = newest(a);
    const auto right = newest(b);
    EXPECT_EQ(left.step(), right.step());
    EXPECT_EQ(left.names(), right.names());
    for (const std::string& name : left.names()) {
      EXPECT_TRUE(left.read(name).equal(right.read(name))) << b << " " << name;
    }
  }

  fs::path at(const std::string& folder) const { return folder_.path() / folder; }
  fs::path checkpoint_at(const std::string& folder, std::int64_t step) const {
    return at(folder) / "checkpoints" / checkpoint::format::folder_name(step);
  }
  checkpoint::Checkpoint newest(const std::string& folder) const {
    auto found = checkpoint::Checkpoint::newest_whole(at(folder) / "checkpoints");
    EXPECT_TRUE(found.checkpoint.has_value());
    return *found.checkpoint;
  }

  // Straight lines fitted with steps that are too long: each makes it worse by a factor.
  static Words diverging(const std::string& rate) {
    return {"data.task=regression", "model.hidden_sizes=[]", "optim.kind=sgd", rate};
  }

  static std::int64_t checkpoints_in(const fs::path& folder) {
    return std::count_if(fs::directory_iterator(folder / "checkpoints"), {}, [](const auto& entry) {
      return entry.path().filename().string().starts_with("step-");
    });
  }

  TemporaryFolder folder_{"trainer-test"};
  std::string model_ = "mlp";  // see tiny_recipe()
  bool is_reported_ = false;
  std::vector<std::string> allowed_changes_{};
  int recipes_kept_ = 0;
  Faults* faults_ = nullptr;
  Duration timeout_ = comm::Timeouts::kCollective;  // of a collective
};

}  // namespace trireme::train
