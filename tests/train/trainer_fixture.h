// Whole jobs in this process, on one rank or on threads, each in a folder of the test's own; and
// data of which one sample is not a number.

#pragma once

#include <atomic>
#include <filesystem>
#include <limits>

#include "tests/train/tiny_job.h"
#include "trireme/base/temporary_folder.h"
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

inline Kinds poisoned_kinds() {
  Kinds kinds = tiny_kinds();
  kinds.data.add<data::memory::SyntheticConfig>("poisoned", "", [](const auto& config) {
    const data::Sets sets = data::memory::open_synthetic(config);
    return data::Sets{std::make_shared<PoisonedSource>(sets.train), sets.test};
  });
  return kinds;
}

class TrainerTest : public ::testing::Test {
 protected:
  struct Ended {
    Ending ending{};
    Progress progress;
    Weights weights;
  };

  // The whole job, every rank a thread.
  Ended run(const std::string& folder, const Words& overrides, bool is_resumed = false,
            int ranks = 1, const std::atomic<bool>* stop = nullptr) {
    at::set_num_threads(1);
    const Kinds kinds = poisoned_kinds();
    const config::Config config = tiny_config("mlp", overrides, kinds);
    std::vector<comm::Group> groups{comm::Group::solo()};
    if (ranks > 1) groups = comm::connect_threads(ranks);
    Ended ended;
    testing::run_rank_threads(ranks, [&](int rank) {
      Job job = open_job(config, kinds, groups[static_cast<std::size_t>(rank)]);
      Reporter silent({});
      Trainer trainer(job, {.output = at(folder),
                            .is_resumed = is_resumed,
                            .is_stop_wanted = stop,
                            .reporter = &silent});
      const Ending ending = trainer.run();
      if (rank == 0) ended = {ending, trainer.progress(), weights_of(*job.model)};
      job.group.barrier().wait();
    });
    return ended;
  }

  fs::path at(const std::string& folder) const { return folder_.path() / folder; }
  checkpoint::Checkpoint newest(const std::string& folder) const {
    auto found = checkpoint::Checkpoint::newest_whole(at(folder) / "checkpoints");
    EXPECT_TRUE(found.checkpoint.has_value());
    return *found.checkpoint;
  }

  // Straight lines fitted with steps that are too long: each makes it worse by a factor.
  static Words diverging(const std::string& rate) {
    return {"data.task=regression", "model.widths=[]", "optim.kind=sgd", rate};
  }

  static std::int64_t checkpoints_in(const fs::path& folder) {
    return std::count_if(fs::directory_iterator(folder / "checkpoints"), {}, [](const auto& entry) {
      return entry.path().filename().string().starts_with("step-");
    });
  }

  TemporaryFolder folder_{"trainer-test"};
};

}  // namespace trireme::train
