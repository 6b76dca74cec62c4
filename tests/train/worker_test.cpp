// Goal:   a worker whose data source never answers reports it and ends, although a thread of its
//         loader cannot end.
// Method: a worker in a child process, with a source whose reads never return.

#include "trireme/train/worker.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "trireme/base/exit_status.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::train {
namespace {

struct HangingConfig {
  static void describe(config::Fields<HangingConfig>&) {}
};

class HangingSource final : public data::Source {
 public:
  std::int64_t count() const override { return 100; }
  const data::Form& form() const override { return form_; }
  void read(std::int64_t, const data::SampleKey&, void*, void*) const override {
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }

 private:
  data::Form form_{.input_sizes = {2}, .classes = 2};
};

int train_on_hanging_source(const std::string& recipe, const std::string& output) {
  Kinds kinds = built_in_kinds();
  kinds.data.add<HangingConfig>("hanging", "reads never return", [](const HangingConfig&) {
    return data::Sets{.train = std::make_shared<HangingSource>()};
  });
  std::vector<std::string> words{"worker", "train", "--recipe", recipe, "--output", output};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  setenv("TRIREME_SIZE", "1", 1);
  return run_worker(static_cast<int>(argv.size()), argv.data(), kinds);
}

TEST(Worker, AHangingDataSourceIsReportedAndTheWorkerEnds) {
  const TemporaryFolder folder("hanging");
  const auto recipe = folder.path() / "recipe.toml";
  write_file_atomically(recipe,
                        "[model]\nkind = \"mlp\"\n[data]\nkind = \"hanging\"\n"
                        "[sync]\ntimeout = \"1s\"\n[train]\nsteps = 5\n");
  const std::string output = (folder.path() / "job").string();
  EXPECT_EXIT(_exit(train_on_hanging_source(recipe.string(), output)),
              ::testing::ExitedWithCode(kExitFailure), "the data source does not answer");
}

}  // namespace
}  // namespace trireme::train
