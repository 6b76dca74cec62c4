#include "trireme/train/keeper.h"

#include <chrono>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/train/progress.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

constexpr auto kSaveMax = std::chrono::minutes(30);
constexpr std::int64_t kNone = -1;
constexpr std::int64_t kNoneWhole = -2;

std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

Keeper::Keeper(Options options) : options_(std::move(options)) {
  if (options_.group.rank() != 0) return;
  const auto is_alike = [metric = options_.metric](const std::string& meta) {
    const std::string by = Progress::from_json(meta).metric;
    return by.empty() || by == metric;
  };
  saver_ = std::make_unique<checkpoint::Saver>(
      checkpoint::Saver::Options{.folder = options_.folder,
                                 .retention = options_.retention,
                                 .is_score_alike = is_alike,
                                 .faults = options_.faults});
}

void Keeper::save(const checkpoint::State& state, std::int64_t step, std::optional<double> score) {
  if (!saver_) return;
  heed(saver_->settle(Deadline::after(kSaveMax)));
  saver_->save(state, step, score);
}

void Keeper::look() {
  if (saver_) heed(saver_->poll());
}

void Keeper::finish() {
  if (!saver_) return;
  heed(saver_->settle(Deadline::after(kSaveMax)));
  if (failure_) std::rethrow_exception(failure_);
}

void Keeper::heed(const std::optional<checkpoint::Saver::Ended>& ended) {
  if (!ended) return;
  const bool has_failed_before = std::exchange(failure_, ended->failure) != nullptr;
  if (!ended->failure) {
    options_.reporter->saved(ended->step, saver_->figures());
    return;
  }
  const std::string why = text_of(ended->failure);
  options_.reporter->warn(
      "the checkpoint of step " + std::to_string(ended->step) + " was not written: " + why,
      {{"event", "checkpoint failed"}, {"step", ended->step}, {"why", why}});
  if (has_failed_before) std::rethrow_exception(ended->failure);
}

// The step of the newest whole one. What is damaged is set aside only where there is a whole one
// to go on from: else people may want to mend what they have.
std::int64_t Keeper::find_newest() {
  heed(saver_->settle(Deadline::after(kSaveMax)));
  const auto found = checkpoint::Checkpoint::newest_whole(options_.folder);
  for (const auto& skipped : found.skipped) {
    const auto step = checkpoint::format::step_in(skipped.path.filename().string());
    options_.reporter->warn("passing over a damaged checkpoint: " + skipped.reason,
                            {{"event", "checkpoint passed over"},
                             {"step", step.value_or(0)},
                             {"path", skipped.path.string()},
                             {"why", skipped.reason}});
    if (found.checkpoint && step) saver_->set_aside(*step);
  }
  if (found.checkpoint) return found.checkpoint->step();
  return found.skipped.empty() ? kNone : kNoneWhole;
}

std::optional<checkpoint::Checkpoint> Keeper::newest() {
  std::int64_t step = saver_ ? find_newest() : kNone;
  options_.group.broadcast({&step, 1, comm::DType::Int64}, 0, {.label = "checkpoint to read"})
      .wait();
  if (step == kNoneWhole) {
    throw Error(ErrorCode::Corrupt, "no checkpoint in " + options_.folder.string() +
                                        " is whole, and none was touched: `trireme checkpoint "
                                        "verify` says what is damaged; begin anew with another "
                                        "--output");
  }
  if (step < 0) return std::nullopt;
  return checkpoint::Checkpoint::open(options_.folder / checkpoint::format::folder_name(step));
}

void Keeper::remove_after(std::int64_t step) {
  if (saver_) saver_->remove_after(step);
}

}  // namespace trireme::train
