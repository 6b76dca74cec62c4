// A job's id: 16 hexadecimal digits that are drawn when the job begins. They are in the file
// `job_id` in its folder, and in the metadata of each of its checkpoints, which a key signs.
//
// Purpose:       a checkpoint of another job in this job's folder is refused, even if the same key
//                signed it. A folder that is moved or copied as a whole keeps its id.
// Limits:        the file itself is not signed. With a key, all checkpoints of the folder must have
//                the same id, so that an edited or deleted file is detected as long as one
//                checkpoint of the job remains. Replacing all checkpoints replaces the job.
// Errors:        InvalidInput for a checkpoint of another job; Corrupt for a file without an id.
// Thread safety: any thread; functions only read and write the file.

#pragma once

#include <filesystem>
#include <string>

#include "trireme/checkpoint/checkpoint.h"
#include "trireme/comm/group.h"

namespace trireme::train {

// Empty if the folder has no id: an earlier version began the job, or it has not begun.
std::string read_job_id(const std::filesystem::path& job);
void write_job_id(const std::filesystem::path& job, const std::string& id);

// Like read_job_id(). With a key, it throws if an authenticated checkpoint has another id than the
// file or, without the file, than the other checkpoints.
std::string authenticated_job_id(const std::filesystem::path& job,
                                 const checkpoint::format::ReadOptions& reading);

struct JobIds {
  std::string own;    // of the folder; empty if it has none
  std::string fresh;  // for a job without an id
};
// Sends the ids that rank 0 reads and draws to all ranks. With an empty path, no id is read. A
// collective.
JobIds agree_on_job_id(const comm::Group& group, const std::filesystem::path& job,
                       const checkpoint::format::ReadOptions& reading);

// Throws if the job and the checkpoint have different ids.
void expect_checkpoint_of(const std::string& id, const std::filesystem::path& job,
                          const checkpoint::Checkpoint& from);

}  // namespace trireme::train
