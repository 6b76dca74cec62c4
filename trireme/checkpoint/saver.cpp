#include "trireme/checkpoint/saver.h"

#include <algorithm>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/file.h"
#include "trireme/checkpoint/format/verify.h"

namespace trireme::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPartName = "part-00000.safetensors";

double seconds_since(TimePoint begin) {
  return std::chrono::duration<double>(steady_clock().now() - begin).count();
}

// What lies in the folder and can be read. Damaged ones, and those of a later version, are left to
// people: they are neither counted nor removed.
std::vector<format::Scored> scores_in(const Saver::Options& options) {
  std::vector<format::Scored> scores;
  for (const format::Listed& listed : format::list_checkpoints(options.folder)) {
    try {
      const fs::path path = listed.path / format::kManifestName;
      const format::Manifest manifest = format::parse_manifest(read_file(path), path.string());
      const bool is_alike = !options.is_score_alike || options.is_score_alike(manifest.meta);
      scores.push_back(
          {.step = listed.step, .score = is_alike ? manifest.score : std::optional<double>()});
    } catch (const Error& error) {
      if (!format::is_damage(error) && error.code() != ErrorCode::Unsupported) throw;
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
  held_ = scores_in(options_);
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
  wait_idle(lock, Deadline::after(options_.wait));
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

std::optional<Saver::Ended> Saver::poll() {
  const std::lock_guard lock(mutex_);
  return std::exchange(ended_, std::nullopt);
}

std::optional<Saver::Ended> Saver::settle(Deadline deadline) {
  std::unique_lock lock(mutex_);
  wait_idle(lock, deadline);
  return std::exchange(ended_, std::nullopt);
}

void Saver::remove_after(std::int64_t step) {
  wait();
  for (const format::Listed& listed : format::list_checkpoints(options_.folder)) {
    if (listed.step > step && is_held(listed.step)) format::remove_checkpoint(listed.path);
  }
  std::erase_if(held_, [&](const format::Scored& one) { return one.step > step; });
}

void Saver::set_aside(std::int64_t step) {
  wait();
  format::set_aside(options_.folder / format::folder_name(step));
  std::erase_if(held_, [&](const format::Scored& one) { return one.step == step; });
}

bool Saver::is_held(std::int64_t step) const {
  return std::ranges::find(held_, step, &format::Scored::step) != held_.end();
}

Saver::Figures Saver::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

void Saver::wait_idle(std::unique_lock<std::mutex>& lock, Deadline deadline) {
  const auto is_idle = [&] { return !task_.has_value(); };
  const TimePoint begin = steady_clock().now();
  if (deadline.is_never()) {
    changed_.wait(lock, is_idle);
  } else if (!changed_.wait_until(lock, deadline.when(), is_idle)) {
    throw Error(ErrorCode::Deadline, "the checkpoint of step " + std::to_string(task_->step) +
                                         " is still being written to " + options_.folder.string());
  }
  figures_.seconds_waited += seconds_since(begin);
}

void Saver::rethrow_failure() {
  const auto ended = std::exchange(ended_, std::nullopt);
  if (ended && ended->failure) std::rethrow_exception(ended->failure);
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
    ended_ = Ended{.step = task.step, .failure = failure};
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
  const fs::path target = options_.folder / format::folder_name(task.step);
  if (!is_held(task.step) && fs::exists(target)) format::set_aside(target);
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
