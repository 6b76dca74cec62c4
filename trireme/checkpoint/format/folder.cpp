#include "trireme/checkpoint/format/folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include "trireme/base/check.h"
#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/base/file.h"

namespace trireme::checkpoint::format {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kDraftSuffix = ".draft";
constexpr std::string_view kGoneSuffix = ".gone";  // a checkpoint that is being removed
constexpr std::string_view kLockName = ".lock";

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor) throw system_error("opening " + folder.string(), errno);
  // Some network file systems have nothing to force and say EINVAL.
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL) {
    throw system_error("writing to disk " + folder.string(), errno);
  }
}

void rename_folder(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    throw system_error("renaming " + from.string() + " to " + to.string(), errno);
  }
}

std::string hidden_name(std::int64_t step, const std::string& tag, std::string_view suffix) {
  return "." + folder_name(step) + "." + tag + std::string(suffix);
}

// What `.step-00000012.tag.suffix` says; nothing of another name.
std::optional<Draft> hidden_in(std::string_view name, std::string_view suffix) {
  if (!name.starts_with('.') || !name.ends_with(suffix)) return std::nullopt;
  name.remove_prefix(1);
  name.remove_suffix(suffix.size());
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto step = step_in(name.substr(0, dot));
  if (!step) return std::nullopt;
  return Draft{.step = *step, .tag = std::string(name.substr(dot + 1))};
}

void delete_folder(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throw system_error("removing " + path.string(), error.value());
}

// The names of what lies in a folder; none where there is no folder.
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

}  // namespace

std::string folder_name(std::int64_t step) {
  TRIREME_CHECK(step >= 0, "a checkpoint of step ", step);
  char digits[32];
  std::snprintf(digits, sizeof digits, "%08lld", static_cast<long long>(step));
  return std::string(kPrefix) + digits;
}

std::optional<std::int64_t> step_in(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  std::int64_t step = -1;
  const char* end = name.data() + name.size();
  const auto result = std::from_chars(name.data() + kPrefix.size(), end, step);
  if (result.ec != std::errc() || result.ptr != end || step < 0) return std::nullopt;
  if (folder_name(step) != name) return std::nullopt;
  return step;
}

std::vector<Listed> list_checkpoints(const fs::path& folder) {
  std::vector<Listed> found;
  for (const std::string& name : names_in(folder)) {
    if (const auto step = step_in(name)) found.push_back({.step = *step, .path = folder / name});
  }
  std::ranges::sort(found, {}, &Listed::step);
  return found;
}

FolderLock::FolderLock(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw system_error("making " + folder.string(), error.value());
  const fs::path path = folder / kLockName;
  descriptor_ = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!descriptor_) throw system_error("opening " + path.string(), errno);
  if (::flock(descriptor_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw system_error("locking " + path.string(), errno);
    char holder[32] = {};
    const ssize_t size = ::pread(descriptor_.get(), holder, sizeof holder - 1, 0);
    throw Error(ErrorCode::InvalidInput,
                "checkpoints in " + folder.string() + " are being written by " +
                    (size > 0 ? "process " + std::string(holder) : "another process"));
  }
  // For people: the lock is the kernel's. A disk too full for it is none of its concern.
  const std::string pid = std::to_string(::getpid());
  if (::ftruncate(descriptor_.get(), 0) == 0 &&
      ::pwrite(descriptor_.get(), pid.data(), pid.size(), 0) < 0) {
    return;
  }
}

fs::path make_draft(const fs::path& folder, std::int64_t step, const std::string& tag) {
  TRIREME_CHECK(!tag.empty() && tag.find_first_of("./") == std::string::npos, "a tag of '", tag,
                "'");
  const fs::path draft = folder / hidden_name(step, tag, kDraftSuffix);
  if (::mkdir(draft.c_str(), 0777) != 0 && errno != EEXIST) {
    throw system_error("making " + draft.string(), errno);
  }
  return draft;
}

void publish(const fs::path& draft, const Manifest& manifest, Faults* faults, int rank) {
  write_file_atomically(draft / kManifestName, manifest_text(manifest),
                        {.faults = faults, .rank = rank});
  reach(faults, kManifestWritten, rank);
  const fs::path target = parent_of(draft) / folder_name(manifest.step);
  // The exchange leaves the old one under the draft's name, where it is removed.
  const bool is_replaced =
      ::renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0;
  if (!is_replaced) {
    // Nothing to exchange with, or a file system that cannot: then it is gone for a moment.
    if (fs::exists(target)) remove_checkpoint(target);
    rename_folder(draft, target);
  }
  reach(faults, kPublished, rank);
  sync_folder(parent_of(draft));
  if (is_replaced) delete_folder(draft);
}

void remove_checkpoint(const fs::path& checkpoint, Faults* faults, int rank) {
  const auto step = step_in(checkpoint.filename().string());
  TRIREME_CHECK(step.has_value(), checkpoint.string(), " is not called like a checkpoint");
  const fs::path away =
      parent_of(checkpoint) / hidden_name(*step, secure_random_hex(8), kGoneSuffix);
  rename_folder(checkpoint, away);
  reach(faults, kRemovalBegun, rank);
  delete_folder(away);
}

fs::path set_aside(const fs::path& checkpoint) {
  const std::string name = checkpoint.filename().string();
  TRIREME_CHECK(step_in(name).has_value(), checkpoint.string(), " is not called like a checkpoint");
  const fs::path parent = parent_of(checkpoint);
  fs::path aside = parent / (name + ".damaged");
  for (int i = 2; fs::exists(aside); ++i) {
    aside = parent / (name + ".damaged-" + std::to_string(i));
  }
  rename_folder(checkpoint, aside);
  sync_folder(parent);
  return aside;
}

std::vector<Draft> sweep_drafts(const fs::path& folder,
                                const std::function<bool(const Draft&)>& is_spared) {
  std::vector<Draft> swept;
  for (const std::string& name : names_in(folder)) {
    const auto draft = hidden_in(name, kDraftSuffix);
    if (!draft && !hidden_in(name, kGoneSuffix)) continue;
    if (draft && is_spared && is_spared(*draft)) continue;
    std::error_code error;
    fs::remove_all(folder / name, error);
    const bool is_busy =
        error == std::errc::directory_not_empty || error == std::errc::no_such_file_or_directory;
    if (error && !is_busy) throw system_error("removing " + name, error.value());
    if (draft) swept.push_back(*draft);
  }
  return swept;
}

}  // namespace trireme::checkpoint::format
