// The folder that holds a job's checkpoints, one `step-00001234` folder each. Checkpoints appear in
// it and disappear from it atomically.
//
// Writing:       writers fill a draft, a hidden folder that readers ignore. The holder of the
//                FolderLock writes the manifest last and publishes the draft with a rename. Removal
//                also starts with a rename; the deletion follows. If processes are killed at any
//                moment, the folder contains only complete checkpoints and possibly drafts, which
//                sweep_drafts() removes.
// Drafts:        writers of one checkpoint share the draft of one step and tag. Each attempt has a
//                unique tag, so two attempts at the same step never mix.
// Errors:        Exhausted if the disk is full, otherwise Io. Aborted, before any change, if a
//                later epoch of the job holds the FolderLock.
// Thread safety: one thread at a time per folder, which holds the lock. Any number of writers may
//                write drafts; reading requires no lock.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/checkpoint/format/folder_lock.h"
#include "trireme/checkpoint/format/manifest.h"
#include "trireme/net/auth/secret.h"

namespace trireme::checkpoint::format {

inline constexpr FaultPoint kManifestWritten{"checkpoint.manifest"};    // complete, still a draft
inline constexpr FaultPoint kStaged{"checkpoint.staged"};               // one rename away
inline constexpr FaultPoint kPublished{"checkpoint.published"};         // has its final name
inline constexpr FaultPoint kRemovalBegun{"checkpoint.removal_begun"};  // hidden, not yet deleted

// In the folder of a job: the file that holds its id.
inline constexpr const char* kJobIdName = "job_id";

std::string folder_name(std::int64_t step);
std::optional<std::int64_t> step_in(std::string_view folder_name);

struct Listed {
  std::int64_t step = 0;
  std::filesystem::path path;
};

// Sorted by step. Empty if the folder does not exist.
std::vector<Listed> list_checkpoints(const std::filesystem::path& folder);

// Returns the draft of a step and tag, and creates it if necessary. A tag consists of letters,
// digits and '-'.
std::filesystem::path make_draft(const std::filesystem::path& folder, std::int64_t step,
                                 const std::string& tag);

struct PublishOptions {
  std::optional<net::Secret> key{};  // key that signs the manifest
  Faults* faults = nullptr;
  int rank = 0;
};

// Writes the manifest into the draft, flushes everything to disk and renames the draft to the name
// of its step. An existing checkpoint of the same step is replaced by an atomic exchange.
void publish(const FolderLock& lock, const std::filesystem::path& draft, const Manifest& manifest,
             const PublishOptions& options = {});

void remove_checkpoint(const FolderLock& lock, std::int64_t step, Faults* faults = nullptr,
                       int rank = 0);

// Renames a checkpoint to `step-….damaged`, so that it is no longer listed, counted or replaced.
void set_aside(const FolderLock& lock, std::int64_t step);

struct Draft {
  std::int64_t step = 0;
  std::string tag;
};

std::vector<Draft> drafts_in(const std::filesystem::path& folder);

// Removes half-removed checkpoints and all drafts except the spared ones; returns the removed
// drafts. A draft that another process is still writing to may remain until the next sweep.
std::vector<Draft> sweep_drafts(const FolderLock& lock,
                                const std::function<bool(const Draft&)>& is_spared = {});

}  // namespace trireme::checkpoint::format
