#include "trireme/checkpoint/saver.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/base/exit_status.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/format/record.h"

namespace trireme::checkpoint {
namespace fs = std::filesystem;
namespace {

using namespace std::chrono_literals;

constexpr Duration kClosingWait = 2s;
constexpr Duration kPollMax = 20ms;
constexpr int kNiceness = 10;

double seconds_since(TimePoint begin) {
  return std::chrono::duration<double>(steady_clock().now() - begin).count();
}

WriterGroup checked(WriterGroup writers) {
  TRIREME_CHECK(writers.rank >= 0 && writers.rank < writers.ranks, "rank ", writers.rank, " of ",
                writers.ranks);
  TRIREME_CHECK(writers.ranks == 1 || !writers.tag.empty(),
                "a group of several writers without a tag");
  if (writers.tag.empty()) writers.tag = secure_random_hex(8);
  return writers;
}

// Removes the draft on destruction, unless it was published.
class DraftGuard {
 public:
  explicit DraftGuard(fs::path path) : path_(std::move(path)) {}
  ~DraftGuard() {
    std::error_code ignored;  // the next sweep retries
    if (!is_published_) fs::remove_all(path_, ignored);
  }
  DraftGuard(const DraftGuard&) = delete;
  DraftGuard& operator=(const DraftGuard&) = delete;

  void set_published() noexcept { is_published_ = true; }

 private:
  fs::path path_;
  bool is_published_ = false;
};

}  // namespace

Saver::Saver(Options options) : options_(std::move(options)), writers_(checked(options_.writers)) {
  options_.sealing.expect_possible();
  if (options_.job.empty()) options_.job = secure_random_hex(8);
  if (writers_.rank == 0) sweep(writers_, 0);
  thread_ = std::thread([this] { run(); });
}

Saver::~Saver() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = Deadline::after(kClosingWait);
  }
  changed_.notify_all();
  thread_.join();
}

void Saver::save(const State& state, std::int64_t step, std::optional<double> score) {
  std::unique_lock lock(mutex_);
  wait_idle(lock, Deadline::after(options_.wait));
  rethrow_failure();
  // The thread is idle until it sees a task, so this thread may write to the buffer.
  const TimePoint copy_begin = steady_clock().now();
  snapshot_.take(state);
  figures_.seconds_copied += seconds_since(copy_begin);
  reach(options_.faults, kSnapshotTaken, writers_.rank);
  task_ = Task{
      .step = step, .score = score, .meta = state.meta, .writers = writers_, .ordinal = ordinal_++};
  lock.unlock();
  changed_.notify_all();
}

void Saver::wait(Deadline deadline) {
  std::unique_lock lock(mutex_);
  wait_idle(lock, deadline);
  rethrow_failure();
}

std::optional<Saver::Ended> Saver::poll() {
  const std::lock_guard lock(mutex_);
  return std::exchange(ended_, std::nullopt);
}

std::optional<Saver::Ended> Saver::settle(Deadline deadline, const IsAnyoneLost& is_anyone_lost) {
  std::unique_lock lock(mutex_);
  wait_idle(lock, deadline, is_anyone_lost);
  return std::exchange(ended_, std::nullopt);
}

std::vector<std::int64_t> Saver::swept() {
  const std::lock_guard lock(mutex_);
  return std::exchange(swept_, {});
}

void Saver::regroup(WriterGroup writers) {
  {
    const std::lock_guard lock(mutex_);
    writers_ = checked(std::move(writers));
    ordinal_ = 0;
  }
  changed_.notify_all();
}

void Saver::remove_after(std::int64_t step) {
  wait();
  shelf(writers_).remove_after(step);
}

void Saver::set_aside(std::int64_t step) {
  wait();
  shelf(writers_).set_aside(step);
}

Saver::Figures Saver::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

void Saver::wait_idle(std::unique_lock<std::mutex>& lock, Deadline deadline,
                      const IsAnyoneLost& is_anyone_lost) {
  const TimePoint begin = steady_clock().now();
  is_wanted_done_ = true;
  changed_.notify_all();
  while (task_ && !deadline.is_past()) {
    const TimePoint look = steady_clock().now() + kPollMax;
    changed_.wait_until(lock, std::min(deadline.when(), look), [&] { return !task_; });
    if (!task_ || !is_anyone_lost || is_anyone_lost_) continue;
    lock.unlock();
    const bool is_lost = is_anyone_lost();
    lock.lock();
    is_anyone_lost_ = is_lost;
    if (is_lost) changed_.notify_all();
  }
  is_wanted_done_ = false;
  is_anyone_lost_ = false;
  figures_.seconds_waited += seconds_since(begin);
  if (!task_) return;
  throw Error(ErrorCode::Deadline, "the checkpoint of step " + std::to_string(task_->step) +
                                       " is still being written to " + options_.folder.string());
}

void Saver::rethrow_failure() {
  const auto ended = std::exchange(ended_, std::nullopt);
  if (ended && ended->failure && !ended->is_given_up) std::rethrow_exception(ended->failure);
}

void Saver::run() {
  // Linux applies the priority to this thread only. Training has precedence over the writer.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNiceness);
  std::unique_lock lock(mutex_);
  while (true) {
    const auto is_resigning = [&] { return writers_.rank != 0 && shelf_.has_value(); };
    changed_.wait(lock, [&] { return task_ || closing_ || is_resigning(); });
    if (task_) {
      const Task task = *task_;
      lock.unlock();
      const TimePoint begin = steady_clock().now();
      const Ended ended = attempt(task);
      lock.lock();
      figures_.seconds_written += seconds_since(begin);
      ended_ = ended;
      task_.reset();
      changed_.notify_all();
    } else if (is_resigning()) {
      shelf_.reset();  // another rank is rank 0 now
    } else {
      return;
    }
  }
}

Saver::Ended Saver::attempt(const Task& task) {
  Ended ended{.step = task.step};
  try {
    write(task);
    const std::lock_guard lock(mutex_);
    ++figures_.saved;
    figures_.last_step = task.step;
    figures_.bytes += snapshot_.layout().data_size();
  } catch (const std::exception& thrown) {
    ended.failure = std::current_exception();
    const bool is_taken_over = as_error(thrown).code() == ErrorCode::Aborted;
    const std::lock_guard lock(mutex_);
    ended.is_given_up = task.writers.tag != writers_.tag || is_anyone_lost_ || is_taken_over;
  }
  return ended;
}

void Saver::write(const Task& task) {
  if (task.writers.rank == 0) return lead(task);
  const fs::path draft = format::make_draft(options_.folder, task.step, task.tag());
  try {
    format::write_record(
        draft, task.writers.rank, write_part(draft, task),
        {.id = task.tag(), .key = options_.sealing.key, .faults = options_.faults});
  } catch (const std::exception& error) {
    format::write_failure(draft, task.writers.rank, as_error(error).message());
    throw;
  }
}

// If a later epoch swept the draft, that is the cause of any failure here, and the save counts as
// given up.
void Saver::lead(const Task& task) {
  try {
    sweep(task.writers, task.ordinal);
    const fs::path draft = format::make_draft(options_.folder, task.step, task.tag());
    DraftGuard own(draft);
    publish(draft, task, write_part(draft, task));
    own.set_published();
  } catch (const std::exception&) {
    if (shelf_) shelf_->expect_held();
    throw;
  }
}

format::WrittenPart Saver::write_part(const fs::path& draft, const Task& task) {
  const int rank = task.writers.rank;
  format::WrittenPart part = format::write_part(
      draft / format::part_name(rank, options_.sealing.is_plain()), snapshot_.layout(),
      snapshot_.contents(),
      {.sealing = options_.sealing, .id = task.tag(), .faults = options_.faults, .rank = rank});
  reach(options_.faults, kPartWritten, rank);
  return part;
}

void Saver::publish(const fs::path& draft, const Task& task, format::WrittenPart own) {
  format::Manifest manifest{
      .step = task.step, .score = task.score, .meta = task.meta, .id = task.tag()};
  format::add_part(manifest, std::move(own));
  const Deadline deadline = Deadline::after(options_.wait);
  for (int rank = 1; rank < task.writers.ranks; ++rank) {
    format::add_part(manifest, meet(draft, task, rank, deadline));
    format::remove_record(draft, rank);
  }
  reach(options_.faults, kPartsMet, task.writers.rank);
  format::settle(manifest);
  shelf_->put(draft, manifest);
}

// Waits for the part of another rank.
format::WrittenPart Saver::meet(const fs::path& draft, const Task& task, int rank,
                                Deadline deadline) {
  for (Duration pause = 1ms;; pause = std::min(pause * 2, kPollMax)) {
    bool is_last_look = deadline.is_past();
    {
      const std::lock_guard lock(mutex_);
      is_last_look |= is_pointless(task);
    }
    auto part = format::read_record(
        draft, rank,
        {.id = task.tag(), .key = options_.sealing.key, .writer = task.writers.name_of(rank)});
    if (part) return std::move(*part);
    if (is_last_look) {
      throw Error(ErrorCode::Deadline, task.writers.name_of(rank) + " did not write its part");
    }
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, pause, [&] { return is_pointless(task); });
  }
}

// Whether waiting for missing parts is pointless. REQUIRES: the caller holds the mutex.
bool Saver::is_pointless(const Task& task) const {
  if (is_anyone_lost_ || (closing_ && closing_->is_past())) return true;
  return task.writers.tag != writers_.tag && (is_wanted_done_ || writers_.rank != 0);
}

// Returns the folder; takes it over for the epoch of this group on first use.
format::Shelf& Saver::shelf(const WriterGroup& writers) {
  if (!shelf_ || shelf_->epoch() != writers.epoch) {
    format::Shelf taken({.folder = options_.folder,
                         .writer = {.job = options_.job, .epoch = writers.epoch},
                         .retention = options_.retention,
                         .key = options_.sealing.key,
                         .reading = options_.sealing.reading(),
                         .is_score_alike = options_.is_score_alike,
                         .faults = options_.faults});
    const std::lock_guard lock(mutex_);
    shelf_ = std::move(taken);
  }
  return *shelf_;
}

// Spares the drafts that this group is about to write, because other ranks may be ahead, and all
// drafts of a newer group that has replaced this one in the meantime.
void Saver::sweep(const WriterGroup& writers, std::int64_t ordinal) {
  const auto ordinal_in = [](const format::Draft& draft, const std::string& tag) -> std::int64_t {
    const bool is_own = draft.tag.starts_with(tag + "-");
    return is_own ? std::atoll(draft.tag.c_str() + tag.size() + 1) : -1;
  };
  const auto is_spared = [&](const format::Draft& draft) {
    const std::lock_guard lock(mutex_);
    return ordinal_in(draft, writers.tag) >= ordinal ||
           (writers_.tag != writers.tag && ordinal_in(draft, writers_.tag) >= 0);
  };
  const std::vector<format::Draft> swept = shelf(writers).sweep(is_spared);
  const std::lock_guard lock(mutex_);
  for (const format::Draft& draft : swept) {
    if (ordinal_in(draft, writers.tag) < 0) swept_.push_back(draft.step);
  }
}

}  // namespace trireme::checkpoint
