#include "trireme/checkpoint/format/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/deadline.h"
#include "trireme/base/entropy.h"
#include "trireme/base/error.h"

namespace trireme::checkpoint::format {
namespace fs = std::filesystem;
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kLockName = ".lock";
constexpr std::string_view kStagePrefix = ".writer.";
constexpr std::string_view kDeletedSuffix = ".gone";
// How long to wait for another holder to write its name; it holds the lock exclusively only while
// it does so.
constexpr Duration kNamingMax = 2s;
constexpr Duration kPoll = 1ms;
// How long to remove the stage of an earlier epoch while files still appear in it.
constexpr Duration kStageMax = 10s;

FolderLock::Writer checked(FolderLock::Writer writer) {
  if (writer.job.empty()) writer.job = secure_random_hex(8);
  TRIREME_CHECK(writer.job.find_first_of("./\n ") == std::string::npos, "a job called '",
                writer.job, "'");
  TRIREME_CHECK(writer.epoch >= 0, "epoch ", writer.epoch);
  return writer;
}

std::string stage_name(const FolderLock::Writer& writer) {
  return std::string(kStagePrefix) + writer.job + "." + std::to_string(writer.epoch);
}

// Returns the writer that owns the stage; nullopt if the name is not a stage's.
std::optional<FolderLock::Writer> writer_in(std::string_view name) {
  if (!name.starts_with(kStagePrefix)) return std::nullopt;
  name.remove_prefix(kStagePrefix.size());
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  FolderLock::Writer writer{.job = std::string(name.substr(0, dot))};
  const char* end = name.data() + name.size();
  const auto result = std::from_chars(name.data() + dot + 1, end, writer.epoch);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return writer;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "an unknown host";
}

// Returns an unused path: an earlier checkpoint of the same step may already be set aside.
fs::path free_path(const fs::path& wanted) {
  fs::path path = wanted;
  for (int i = 2; fs::exists(path); ++i) path = wanted.string() + "-" + std::to_string(i);
  return path;
}

}  // namespace

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw system_error("listing " + folder.string(), error.value());
  }
  return names;
}

FolderLock::FolderLock(const fs::path& folder, Writer writer, Faults* faults)
    : folder_(folder), writer_(checked(std::move(writer))), stage_(folder / stage_name(writer_)) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw system_error("making " + folder.string(), error.value());
  const fs::path path = folder / kLockName;
  descriptor_ = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!descriptor_) throw system_error("opening " + path.string(), errno);
  lock(faults);
  take_over();
}

// While the lock is shared, no process can change the name in the file. The exclusive lock is
// released before the shared one is acquired, as in flock(2)'s own conversion, so another job may
// write its name in between; the name is therefore read again.
//
// An earlier epoch of this job may be frozen on another host while it holds the exclusive lock.
// That keeps other jobs out, and between epochs the stages decide, so this epoch continues without
// the lock; hold() acquires it once the frozen process has woken up or ended.
void FolderLock::lock(Faults* faults) const {
  const Deadline deadline = Deadline::after(kNamingMax);
  while (true) {
    std::optional<std::string> written;
    if (try_lock(LOCK_EX)) {
      write_holder();
      written = read_holder();
      ::flock(descriptor_.get(), LOCK_UN);
      reach(faults, kLockNamed, 0);
    }
    const bool is_shared = try_lock(LOCK_SH);
    const std::string holder = read_holder();
    const bool is_ours = holder == written || holder.starts_with(writer_.job + "\n");
    if (is_ours && (is_shared || deadline.is_past())) return;
    // The job that acquired the lock in between may have released it again.
    if (written && !deadline.is_past()) continue;
    if (is_shared || deadline.is_past()) refuse(holder);
    std::this_thread::sleep_for(kPoll);
  }
}

// Costs two system calls if the lock is held already.
void FolderLock::hold() const {
  if (!try_lock(LOCK_SH)) return;
  const std::string holder = read_holder();
  if (!holder.starts_with(writer_.job + "\n")) refuse(holder);
}

bool FolderLock::try_lock(int operation) const {
  if (::flock(descriptor_.get(), operation | LOCK_NB) == 0) return true;
  if (errno != EWOULDBLOCK && errno != EINTR) {
    throw system_error("locking " + (folder_ / kLockName).string(), errno);
  }
  return false;
}

// Throws Exhausted on a full disk: without the name the next epoch of the job would take the folder
// for that of another job.
void FolderLock::write_holder() const {
  const std::string text =
      writer_.job + "\nprocess " + std::to_string(::getpid()) + " on " + host_name() + "\n";
  const ssize_t written = ::pwrite(descriptor_.get(), text.data(), text.size(), 0);
  if (written == std::ssize(text) && ::ftruncate(descriptor_.get(), written) == 0) return;
  // A write that is cut short does not set errno.
  const int why = written >= 0 && written < std::ssize(text) ? ENOSPC : errno;
  const Error error = system_error("writing " + (folder_ / kLockName).string(), why);
  throw Error(error.code(), error.message() +
                                ". Free space or repair the file system there, or use another "
                                "--output");
}

std::string FolderLock::read_holder() const {
  char holder[512] = {};
  const ssize_t size = ::pread(descriptor_.get(), holder, sizeof holder - 1, 0);
  return {holder, size > 0 ? static_cast<std::size_t>(size) : 0};
}

void FolderLock::refuse(const std::string& holder) const {
  std::string who = holder.substr(std::min(holder.size(), holder.find('\n') + 1));
  if (who.ends_with('\n')) who.pop_back();
  throw Error(ErrorCode::InvalidInput, "checkpoints in " + folder_.string() +
                                           " are being written by " +
                                           (who.empty() ? "another process" : who) +
                                           " of another job. End that job (`trireme jobs` lists "
                                           "jobs, `trireme stop NAME` ends one), or use another "
                                           "--output");
}

// Creates this epoch's stage before it looks for other stages: if two epochs do this at the same
// time, the earlier one sees the later one.
void FolderLock::take_over() const {
  if (::mkdir(stage_.c_str(), 0777) != 0 && errno != EEXIST) {
    throw system_error("making " + stage_.string(), errno);
  }
  std::vector<std::string> earlier;
  for (const std::string& name : names_in(folder_)) {
    const auto other = writer_in(name);
    if (!other || folder_ / name == stage_) continue;
    if (other->job == writer_.job && other->epoch > writer_.epoch) {
      ::rmdir(stage_.c_str());
      expect_held();
    }
    earlier.push_back(name);
  }
  for (const std::string& name : earlier) {
    // The earlier writer may still move a file into its stage after it was emptied.
    const Deadline deadline = Deadline::after(kStageMax);
    while (!remove_stage(folder_ / name)) {
      if (deadline.is_past()) {
        throw Error(ErrorCode::Io, "removing " + (folder_ / name).string() +
                                       ": new files appear in it all the time");
      }
      std::this_thread::sleep_for(kPoll);
    }
  }
}

// Returns false if the stage is not empty.
bool FolderLock::remove_stage(const fs::path& stage) const {
  clear_stage(stage);
  if (::rmdir(stage.c_str()) == 0 || errno == ENOENT) return true;
  if (errno == ENOTEMPTY || errno == EEXIST) return false;
  throw system_error("removing " + stage.string(), errno);
}

void FolderLock::clear() const {
  expect_held();
  clear_stage(stage_);
}

// Drafts go back to the folder, where the next sweep removes them; damaged checkpoints are kept for
// inspection.
void FolderLock::clear_stage(const fs::path& stage) const {
  for (const std::string& name : names_in(stage)) {
    std::error_code error;
    if (name.ends_with(kDeletedSuffix)) {
      fs::remove_all(stage / name, error);
    } else {
      fs::rename(stage / name, free_path(folder_ / name), error);
    }
    const bool is_gone = error == std::errc::no_such_file_or_directory;
    if (error && !is_gone) throw system_error("clearing " + stage.string(), error.value());
  }
}

bool FolderLock::move(const fs::path& from, const fs::path& to) const {
  hold();
  if (::rename(from.c_str(), to.c_str()) == 0) return true;
  const int why = errno;
  expect_held();
  if (why == ENOENT) return false;
  throw system_error("renaming " + from.string() + " to " + to.string(), why);
}

void FolderLock::expect_held() const {
  if (fs::exists(stage_)) return;
  for (const std::string& name : names_in(folder_)) {
    const auto other = writer_in(name);
    if (!other || other->job != writer_.job || other->epoch <= writer_.epoch) continue;
    throw Error(ErrorCode::Aborted, "epoch " + std::to_string(other->epoch) +
                                        " of this job writes the checkpoints in " +
                                        folder_.string() + " now, without this worker of epoch " +
                                        std::to_string(writer_.epoch));
  }
  throw Error(ErrorCode::Io, stage_.string() + " was removed while this job needs it");
}

}  // namespace trireme::checkpoint::format
