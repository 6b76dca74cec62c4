// Goal:   an executor runs the passes of a schedule in its order, adds up the sums of all
//         micro-batches, reuses those of an earlier attempt, and does not differentiate a loss that
//         is not finite where backward would update parameters at once.
// Method: a synchronization strategy that notes its calls and leaves gradients where autograd puts
//         them, with the model and the data of a tiny job.

#include "trireme/train/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/tiny_job.h"

namespace trireme::train {
namespace {

using ::testing::ElementsAre;

class NotedSync final : public parallel::GradientSync,
                        private parallel::CommonModel,
                        private parallel::SavedState {
 public:
  void begin_step(const parallel::StepPlan&) override {}
  bool begin_micro_batch(std::size_t index) override {
    if (static_cast<int>(index) == kept) return false;
    notes.push_back("begin " + std::to_string(index));
    return true;
  }
  void end_micro_batch() override { notes.emplace_back("end"); }
  void finish_reduction() override {}
  void update(const parallel::Update&) override {}
  void drop() override {}
  parallel::PassServices passes() override { return {.updates_early = updates_early}; }
  Roles roles() override { return {commit_, *this, *this}; }

  std::vector<std::string> notes;
  int kept = -1;
  bool updates_early = false;

 private:
  std::string first_not_finite(bool) const override { return {}; }
  std::vector<checkpoint::Piece> pieces() override { return {}; }

  parallel::StepCommit commit_{{}};
};

class ExecutorTest : public ::testing::Test {
 protected:
  // 10 samples in three micro-batches.
  ExecutorTest() : job_(open_job(tiny_config("mlp", {}), tiny_kinds())) {
    at::set_num_threads(1);
    job_.assign({0, 0, 0});
    work_ = &job_.loader().next();
  }

  Executor executor() {
    return Executor({.model = job_.model,
                     .loss = job_.loss,
                     .loader = job_.step->parts().loader,
                     .gradient_sync = sync_});
  }
  PassSums run(Executor& executor) {
    StepTimer timer;
    executor.run(forward_backward(3), {.work = work_, .terms = 10}, timer);
    return executor.sums();
  }
  // The mean loss of the batch, added up as the executor promises: by micro-batch, in double.
  double loss_by_hand() {
    double sum = 0;
    for (const data::Batch& batch : work_->batches) {
      const at::Tensor output = job_.model->forward(batch.input, {.is_training = true});
      sum += (job_.loss->sum(output, batch.target) * 0.1).item<double>();
    }
    return sum;
  }
  at::Tensor gradient() { return job_.model->parameters()[0].grad(); }

  Job job_;
  const data::StepBatches* work_ = nullptr;
  std::shared_ptr<NotedSync> sync_ = std::make_shared<NotedSync>();
};

TEST_F(ExecutorTest, RunsTheScheduleAndAddsUpTheLosses) {
  Executor executor = this->executor();
  const PassSums sums = run(executor);
  EXPECT_THAT(sync_->notes, ElementsAre("begin 0", "end", "begin 1", "end", "begin 2", "end"));
  EXPECT_EQ(sums.loss, loss_by_hand());
  EXPECT_TRUE(gradient().defined());
}

TEST_F(ExecutorTest, SumsOfKeptMicroBatchesCountWithoutRunningThem) {
  Executor executor = this->executor();
  const PassSums first = run(executor);
  sync_->notes.clear();
  sync_->kept = 1;
  executor.keep_sums(1);
  EXPECT_EQ(run(executor).loss, first.loss);
  EXPECT_THAT(sync_->notes, ElementsAre("begin 0", "end", "begin 2", "end"));
  executor.keep_sums(0);
  EXPECT_LT(run(executor).loss, first.loss) << "another step has no sums of this one";
}

TEST_F(ExecutorTest, ALossThatIsNotFiniteIsNotDifferentiatedWhereThatWouldUpdateParameters) {
  work_->batches[1].input.fill_(std::numeric_limits<float>::quiet_NaN());
  for (const bool updates_early : {true, false}) {
    sync_->updates_early = updates_early;
    for (at::Tensor& parameter : job_.model->parameters()) parameter.mutable_grad().reset();
    Executor executor = this->executor();
    EXPECT_TRUE(std::isnan(run(executor).loss));
    EXPECT_EQ(gradient().isfinite().all().item<bool>(), updates_early);
    EXPECT_EQ(executor.first_block_not_finite(), "layers.0");
  }
}

}  // namespace
}  // namespace trireme::train
