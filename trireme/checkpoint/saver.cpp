#include "trireme/checkpoint/saver.h"

#include <algorithm>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/file.h"

namespace trireme::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPartName = "part-00000.safetensors";

double seconds_since(TimePoint begin) {
  return std::chrono::duration<double>(steady_clock().now() - begin).count();
}

// What lies in the folder and can be read. Damaged ones are left to people: they are neither
// counted nor removed.
std::vector<format::Scored> scores_in(const fs::path& folder) {
  std::vector<format::Scored> scores;
  for (const format::Listed& listed : format::list_checkpoints(folder)) {
    try {
      const fs::path path = listed.path / format::kManifestName;
      const format::Manifest manifest = format::parse_manifest(read_file(path), path.string());
      scores.push_back({.step = listed.step, .score = manifest.score});
    } catch (const Error& error) {
      if (error.code() == ErrorCode::Io) throw;
    }
  }
  return scores;
}

// Removes the draft unless it was published.
class Draft {
 public:
  Draft(const fs::path& folder, std::int64_t step) : path_(format::make_draft(folder, step)) {}
  ~Draft() {
    std::error_code ignored;  // the next sweep tries again
    if (!is_published_) fs::remove_all(path_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  const fs::path& path() const noexcept { return path_; }
  void set_published() noexcept { is_published_ = true; }

 private:
  fs::path path_;
  bool is_published_ = false;
};

}  // namespace

Saver::Saver(Options options) : options_(std::move(options)), lock_(options_.folder) {
  format::sweep_drafts(options_.folder);
  held_ = scores_in(options_.folder);
  thread_ = std::thread([this] { run(); });
}

Saver::~Saver() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Saver::save(const State& state, std::int64_t step, std::optional<double> score) {
  std::unique_lock lock(mutex_);
  const TimePoint begin = steady_clock().now();
  wait_idle(lock, Deadline::after(options_.wait));
  figures_.seconds_waited += seconds_since(begin);
  rethrow_failure();
  // The thread is idle until it sees a task, so the buffer is ours.
  const TimePoint copy_begin = steady_clock().now();
  snapshot_.take(state);
  figures_.seconds_copied += seconds_since(copy_begin);
  reach(options_.faults, kSnapshotTaken, options_.rank);
  task_ = Task{.step = step, .score = score, .meta = state.meta};
  lock.unlock();
  changed_.notify_all();
}

void Saver::wait(Deadline deadline) {
  std::unique_lock lock(mutex_);
  wait_idle(lock, deadline);
  rethrow_failure();
}

void Saver::remove_after(std::int64_t step) {
  wait();
  for (const format::Listed& listed : format::list_checkpoints(options_.folder)) {
    if (listed.step > step) format::remove_checkpoint(listed.path);
  }
  std::erase_if(held_, [&](const format::Scored& one) { return one.step > step; });
}

Saver::Figures Saver::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

void Saver::wait_idle(std::unique_lock<std::mutex>& lock, Deadline deadline) {
  const auto is_idle = [&] { return !task_.has_value(); };
  if (deadline.is_never()) {
    changed_.wait(lock, is_idle);
  } else if (!changed_.wait_until(lock, deadline.when(), is_idle)) {
    throw Error(ErrorCode::Deadline, "the checkpoint of step " + std::to_string(task_->step) +
                                         " is still being written to " + options_.folder.string());
  }
}

void Saver::rethrow_failure() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Saver::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return task_.has_value() || is_closing_; });
    if (!task_.has_value()) return;
    const Task task = *task_;
    lock.unlock();
    const TimePoint begin = steady_clock().now();
    std::exception_ptr failure;
    try {
      write(task);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    figures_.seconds_written += seconds_since(begin);
    failure_ = failure;
    task_.reset();
    changed_.notify_all();
  }
}

void Saver::write(const Task& task) {
  Draft draft(options_.folder, task.step);
  format::Manifest manifest{.step = task.step, .score = task.score, .meta = task.meta};
  format::add_part(manifest,
                   format::write_part(draft.path() / kPartName, snapshot_.layout(),
                                      snapshot_.contents(), options_.faults, options_.rank));
  reach(options_.faults, kPartWritten, options_.rank);
  format::settle(manifest);
  format::publish(draft.path(), manifest, options_.faults, options_.rank);
  draft.set_published();
  {
    const std::lock_guard lock(mutex_);
    ++figures_.saved;
    figures_.last_step = task.step;
    figures_.bytes += manifest.data_size();
  }
  std::erase_if(held_, [&](const format::Scored& one) { return one.step == task.step; });
  held_.push_back({.step = task.step, .score = task.score});
  retire();
}

void Saver::retire() {
  for (const std::int64_t step : format::steps_to_remove(held_, options_.retention)) {
    const fs::path path = options_.folder / format::folder_name(step);
    if (fs::exists(path)) format::remove_checkpoint(path, options_.faults, options_.rank);
    std::erase_if(held_, [&](const format::Scored& one) { return one.step == step; });
  }
}

}  // namespace trireme::checkpoint
