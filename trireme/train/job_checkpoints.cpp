#include "trireme/train/job_checkpoints.h"

#include <span>
#include <utility>

#include "trireme/base/bytes.h"
#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/train/report/checkpoint_meta.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

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

JobCheckpoints::JobCheckpoints(Options options) : options_(std::move(options)) {
  regroup(options_.group, options_.workers);
}

// Rank 0 adopts the new tag before it sends the tag to the other ranks, so that it never deletes
// files that they have written under it.
void JobCheckpoints::regroup(comm::Group group, std::vector<int> workers) {
  options_.group = std::move(group);
  options_.workers = std::move(workers);
  std::uint64_t nonce = 0;
  secure_random(std::as_writable_bytes(std::span(&nonce, 1)));
  if (options_.group.rank() == 0) join(writers_of(nonce));
  options_.group
      .broadcast({&nonce, 1, comm::DType::Int64}, 0,
                 {.label = "checkpoint writers", .deadline = files_deadline()})
      .wait();
  if (options_.group.rank() == 0) return;
  if (!fs::exists(options_.folder)) {
    throw Error(ErrorCode::InvalidInput,
                "this rank does not see the folder " + options_.folder.string() +
                    ", which rank 0 uses: --output must be on a file system that all hosts share");
  }
  join(writers_of(nonce));
}

Deadline JobCheckpoints::files_deadline() const {
  return Deadline::after(options_.group.timeouts().files());
}

checkpoint::WriterGroup JobCheckpoints::writers_of(std::uint64_t nonce) const {
  const std::uint64_t epoch = options_.group.epoch();
  return {.rank = options_.group.rank(),
          .ranks = options_.group.size(),
          .tag = "e" + std::to_string(epoch) + "-" + to_hex(std::as_bytes(std::span(&nonce, 1))),
          .epoch = static_cast<std::int64_t>(epoch),
          .workers = options_.workers};
}

void JobCheckpoints::join(checkpoint::WriterGroup writers) {
  if (saver_) {
    saver_->regroup(std::move(writers));
    return;
  }
  const auto is_alike = [metric = options_.metric](const std::string& meta) {
    const std::string by = Progress::from_json(meta).metric;
    return by.empty() || by == metric;
  };
  saver_ = std::make_unique<checkpoint::Saver>(
      checkpoint::Saver::Options{.folder = options_.folder,
                                 .job = options_.job,
                                 .retention = options_.retention,
                                 .is_score_alike = is_alike,
                                 .writers = std::move(writers),
                                 .sealing = options_.sealing,
                                 .wait = options_.group.timeouts().part(),
                                 .faults = options_.faults});
}

void JobCheckpoints::save(const checkpoint::State& state, std::int64_t step,
                          std::optional<double> score) {
  heed(settle());
  // Ranks whose part is written sooner wait here for the slowest writer, not in a collective of the
  // next step, whose timeout is shorter.
  options_.group.barrier({.label = "previous checkpoint", .deadline = files_deadline()}).wait();
  saver_->save(state, step, score);
}

void JobCheckpoints::look() {
  heed(saver_->poll());
}

void JobCheckpoints::finish() {
  const auto ended = settle();
  heed(ended, /*is_last=*/true);
  if (ended && ended->is_given_up) {
    throw options_.group.error().value_or(
        Error(ErrorCode::PeerLost, "a rank was lost before it wrote its part of the checkpoint"));
  }
  if (failure_) std::rethrow_exception(failure_);
}

// Waits for the parts of all ranks, unless a rank is lost, whose part will never be written.
std::optional<checkpoint::Saver::Ended> JobCheckpoints::settle() {
  return saver_->settle(Deadline::after(options_.group.timeouts().writer()),
                        [this] { return options_.group.look().has_value(); });
}

// Rank 0 reports the failed writes of all ranks, and ends the job if it has to.
void JobCheckpoints::heed(const std::optional<checkpoint::Saver::Ended>& ended, bool is_last) {
  for (const std::int64_t step : saver_->swept()) give_up(step, "its writers are gone");
  if (!ended || options_.group.rank() != 0) return;
  if (ended->is_given_up) return give_up(ended->step, text_of(ended->failure));
  const std::exception_ptr failure = ended->failure ? with_advice(ended->failure) : nullptr;
  const bool has_failed_before = std::exchange(failure_, failure) != nullptr;
  if (!failure) {
    options_.reporter->saved(ended->step, saver_->figures());
    return;
  }
  const std::string why = text_of(failure);
  const Record event{{"event", "checkpoint failed"}, {"step", ended->step}, {"why", why}};
  if (!has_failed_before && !is_last) {
    return options_.reporter->warn(
        "the checkpoint of step " + std::to_string(ended->step) + " was not written: " + why,
        event);
  }
  // The exception ends the job, and its message is shown at the end; here it is only recorded.
  options_.reporter->event(event);
  std::rethrow_exception(failure);
}

// Adds advice to the error if a file could not be written.
std::exception_ptr JobCheckpoints::with_advice(const std::exception_ptr& failure) const {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    const ErrorCode code = error.code();
    const bool is_about_files =
        code == ErrorCode::Exhausted || code == ErrorCode::Io || code == ErrorCode::RemoteFailure;
    if (!is_about_files) return failure;
    return std::make_exception_ptr(Error(
        code, error.message() + ". Make sure that " + options_.folder.string() +
                  " can be written and has space; checkpoint.keep=N keeps fewer checkpoints"));
  } catch (const std::exception&) {
    return failure;
  }
}

void JobCheckpoints::give_up(std::int64_t step, const std::string& why) {
  options_.reporter->warn(
      "the checkpoint of step " + std::to_string(step) + " was not finished: " + why,
      {{"event", "checkpoint given up"}, {"step", step}, {"why", why}});
}

// The step of the newest intact checkpoint. Damaged checkpoints are set aside only if there is an
// intact one to continue from; otherwise the user may want to repair them.
std::int64_t JobCheckpoints::find_newest() {
  heed(settle());
  const auto found = checkpoint::Checkpoint::newest_whole(
      options_.folder, options_.sealing.reading(), check_job_meta);
  for (const auto& skipped : found.skipped) {
    const auto step = checkpoint::format::step_in(skipped.path.filename().string());
    options_.reporter->warn("skipping a damaged checkpoint: " + skipped.reason,
                            {{"event", "checkpoint passed over"},
                             {"step", step.value_or(0)},
                             {"path", skipped.path.string()},
                             {"why", skipped.reason}});
    if (found.checkpoint && step) saver_->set_aside(*step);
  }
  if (found.checkpoint) return found.checkpoint->step();
  return found.skipped.empty() ? kNone : kNoneWhole;
}

std::optional<checkpoint::Checkpoint> JobCheckpoints::newest() {
  std::int64_t step = options_.group.rank() == 0 ? find_newest() : kNone;
  options_.group
      .broadcast({&step, 1, comm::DType::Int64}, 0,
                 {.label = "checkpoint to read", .deadline = files_deadline()})
      .wait();
  if (step == kNoneWhole) {
    // InvalidInput, because the same command would fail again.
    throw Error(ErrorCode::InvalidInput,
                "all checkpoints in " + options_.folder.string() +
                    " are damaged; none was changed. `trireme checkpoint verify` shows the damage. "
                    "To begin a new job, use another --output");
  }
  if (step < 0) return std::nullopt;
  return checkpoint::Checkpoint::open(options_.folder / checkpoint::format::folder_name(step),
                                      options_.sealing.reading());
}

std::optional<std::int64_t> JobCheckpoints::newest_step(std::int64_t last) {
  std::int64_t step = kNone;
  if (options_.group.rank() == 0) {
    heed(settle());
    for (const auto& listed : checkpoint::format::list_checkpoints(options_.folder)) {
      if (listed.step <= last) step = listed.step;
    }
  }
  options_.group
      .broadcast({&step, 1, comm::DType::Int64}, 0,
                 {.label = "newest checkpoint", .deadline = files_deadline()})
      .wait();
  return step < 0 ? std::nullopt : std::optional(step);
}

void JobCheckpoints::remove_after(std::int64_t step) {
  if (options_.group.rank() == 0) saver_->remove_after(step);
}

}  // namespace trireme::train
