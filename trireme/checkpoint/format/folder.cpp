#include "trireme/checkpoint/format/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include "trireme/base/check.h"
#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/checkpoint/format/manifest_text.h"

namespace trireme::checkpoint::format {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kDraftSuffix = ".draft";
constexpr std::string_view kGoneSuffix = ".gone";  // a checkpoint that is being removed

void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor) throw system_error("opening " + folder.string(), errno);
  // Some network file systems do not support fsync on a folder and return EINVAL.
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL) {
    throw system_error("writing to disk " + folder.string(), errno);
  }
}

std::string hidden_name(std::int64_t step, const std::string& tag, std::string_view suffix) {
  return "." + folder_name(step) + "." + tag + std::string(suffix);
}

// Parses `.step-00000012.tag.suffix`; returns nullopt for any other name.
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

// Moves a staged checkpoint to its final name. Returns true if a checkpoint of that step existed;
// the old one is then in the stage.
bool exchange_or_rename(const FolderLock& lock, const fs::path& staged, std::int64_t step) {
  const fs::path target = lock.folder() / folder_name(step);
  if (::renameat2(AT_FDCWD, staged.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) {
    return true;
  }
  // There is no checkpoint to exchange with, or the file system does not support RENAME_EXCHANGE.
  // In the second case the step has no checkpoint between the removal and the rename.
  if (fs::exists(target)) remove_checkpoint(lock, step);
  if (!lock.move(staged, target)) throw system_error("publishing " + staged.string(), ENOENT);
  return false;
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

fs::path make_draft(const fs::path& folder, std::int64_t step, const std::string& tag) {
  TRIREME_CHECK(!tag.empty() && tag.find_first_of("./") == std::string::npos, "a tag of '", tag,
                "'");
  const fs::path draft = folder / hidden_name(step, tag, kDraftSuffix);
  if (::mkdir(draft.c_str(), 0777) != 0 && errno != EEXIST) {
    throw system_error("making " + draft.string(), errno);
  }
  return draft;
}

void publish(const FolderLock& lock, const fs::path& draft, const Manifest& manifest,
             const PublishOptions& options) {
  write_file_atomically(draft / kManifestName, manifest_text(manifest, options.key),
                        {.faults = options.faults, .rank = options.rank});
  reach(options.faults, kManifestWritten, options.rank);
  const fs::path staged = lock.staged(draft.filename().string());
  if (!lock.move(draft, staged)) throw system_error("publishing " + draft.string(), ENOENT);
  try {
    reach(options.faults, kStaged, options.rank);
    // The exchange leaves the replaced checkpoint under the draft's name, where it is deleted.
    const bool is_replaced = exchange_or_rename(lock, staged, manifest.step);
    reach(options.faults, kPublished, options.rank);
    sync_folder(lock.folder());
    if (is_replaced) delete_folder(staged);
  } catch (...) {
    std::error_code ignored;  // the next sweep retries
    fs::remove_all(staged, ignored);
    throw;
  }
}

void remove_checkpoint(const FolderLock& lock, std::int64_t step, Faults* faults, int rank) {
  const fs::path away = lock.staged(hidden_name(step, secure_random_hex(8), kGoneSuffix));
  if (!lock.move(lock.folder() / folder_name(step), away)) return;
  reach(faults, kRemovalBegun, rank);
  delete_folder(away);
}

void set_aside(const FolderLock& lock, std::int64_t step) {
  const fs::path staged = lock.staged(folder_name(step) + ".damaged");
  if (!lock.move(lock.folder() / folder_name(step), staged)) return;
  lock.clear();  // moves it back to the folder, under its new name
  sync_folder(lock.folder());
}

std::vector<Draft> drafts_in(const fs::path& folder) {
  std::vector<Draft> drafts;
  for (const std::string& name : names_in(folder)) {
    if (auto draft = hidden_in(name, kDraftSuffix)) drafts.push_back(std::move(*draft));
  }
  return drafts;
}

std::vector<Draft> sweep_drafts(const FolderLock& lock,
                                const std::function<bool(const Draft&)>& is_spared) {
  lock.clear();
  std::vector<Draft> swept;
  for (const Draft& draft : drafts_in(lock.folder())) {
    if (is_spared && is_spared(draft)) continue;
    const fs::path away = lock.staged(hidden_name(draft.step, draft.tag, kGoneSuffix));
    if (!lock.move(lock.folder() / hidden_name(draft.step, draft.tag, kDraftSuffix), away))
      continue;
    std::error_code error;
    fs::remove_all(away, error);
    const bool is_busy =
        error == std::errc::directory_not_empty || error == std::errc::no_such_file_or_directory;
    if (error && !is_busy) throw system_error("removing " + away.string(), error.value());
    swept.push_back(draft);
  }
  return swept;
}

}  // namespace trireme::checkpoint::format
