// Goal:   a step that is dropped leaves the error-feedback residuals as they were before it.
// Method: tiny jobs with codecs on threads of one or two hosts, on data of which one sample is not
// a
//         number; the residuals of each rank are compared step by step.

#include <gtest/gtest.h>

#include "tests/comm/host_threads.h"
#include "tests/train/trainer_fixture.h"

namespace trireme::train {
namespace {

struct DroppingJob {
  const char* kind;
  std::vector<int> hosts;  // by rank
  int in_flight = 0;       // earlier steps that are dropped together with a step
};

std::vector<at::Tensor> residuals_of(const Job& job) {
  std::vector<at::Tensor> all;
  for (const checkpoint::Piece& piece : job.gradient_sync().saved().own_pieces()) {
    if (piece.name.find("residual.") != std::string::npos) all.push_back(piece.data.clone());
  }
  return all;
}

bool are_equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return x.equal(y); });
}

void expect_kept(const DroppingJob& with) {
  const Kinds kinds = poisoned_kinds();
  const config::Config config =
      tiny_config("mlp",
                  {std::string("sync.kind=") + with.kind, "sync.codec.kind=top_k",
                   "sync.codec.ratio=0.1", "data.kind=poisoned", "train.non_finite=skip"},
                  kinds);
  at::set_num_threads(1);
  const std::vector<comm::Group> groups = comm::connect_hosts(with.hosts);
  testing::run_rank_threads(static_cast<int>(groups.size()), [&](int rank) {
    Job job = open_job(config, kinds, groups[static_cast<std::size_t>(rank)]);
    std::vector<std::vector<at::Tensor>> before;  // each step
    int dropped = 0;
    for (int step = 0; step < 12; ++step) {
      before.push_back(residuals_of(job));
      const bool is_finite = job.step->run({.step = step, .updates = step}).is_finite;
      const std::vector<at::Tensor> after = residuals_of(job);
      ASSERT_FALSE(after.empty());
      if (is_finite) {
        EXPECT_FALSE(are_equal(after, before.back()) && with.in_flight == 0) << step;
        continue;
      }
      const std::size_t first = before.size() - 1 - static_cast<std::size_t>(with.in_flight);
      EXPECT_TRUE(are_equal(after, before[first])) << step;
      ++dropped;
    }
    EXPECT_GE(dropped, 2);
    groups[static_cast<std::size_t>(rank)].barrier().wait();
  });
}

TEST(DroppedStep, LeavesResidualsAsTheyWere) {
  for (const DroppingJob& with : {DroppingJob{.kind = "all_reduce", .hosts = {0, 0}},
                                  {.kind = "zero1", .hosts = {0, 1}},
                                  {.kind = "shared", .hosts = {0, 0, 1, 1}},
                                  {.kind = "delayed", .hosts = {0, 0}, .in_flight = 1}}) {
    SCOPED_TRACE(with.kind);
    expect_kept(with);
  }
}

}  // namespace
}  // namespace trireme::train
