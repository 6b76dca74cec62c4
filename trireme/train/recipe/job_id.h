// A job's id: 16 hexadecimal digits that are drawn when it begins. They are in the file `job_id` of
// its folder, and in the meta of each of its checkpoints, which a key signs.
//
// Purpose: a checkpoint of another job that lies in this job's folder is refused, though the same
//          key signed it. A folder that is moved or copied as a whole keeps its id.
// Limits:  the file itself is not signed. With a key, all checkpoints of the folder have to agree
//          on the id, so that an edited or deleted file is noticed while one checkpoint of the job
//          is left. Whoever replaces all of them replaces the job.
// Failure: InvalidInput for a checkpoint of another job; Corrupt for a file that holds no id.
// Threads: pure but for the file.

#pragma once

#include <filesystem>
#include <string>

#include "trireme/checkpoint/checkpoint.h"
#include "trireme/comm/group.h"

namespace trireme::train {

// Empty where the folder has none: the job began with an earlier version, or not at all.
std::string read_job_id(const std::filesystem::path& job);
void write_job_id(const std::filesystem::path& job, const std::string& id);

// As read_job_id(). With a key, throws where a checkpoint that it authenticates is of another job
// than the file says or, without the file, than the other checkpoints.
std::string authenticated_job_id(const std::filesystem::path& job,
                                 const checkpoint::format::ReadOptions& reading);

struct JobIds {
  std::string own;    // of the folder; empty where it has none
  std::string fresh;  // for a job that has none
};
// What rank 0 reads and draws, the same on every rank; an empty path is of no job. A collective.
JobIds agree_on_job_id(const comm::Group& group, const std::filesystem::path& job,
                       const checkpoint::format::ReadOptions& reading);

// Throws where both have an id, and not the same.
void expect_checkpoint_of(const std::string& id, const std::filesystem::path& job,
                          const checkpoint::Checkpoint& from);

}  // namespace trireme::train
