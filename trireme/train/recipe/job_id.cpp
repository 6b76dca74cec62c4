#include "trireme/train/recipe/job_id.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/text/shell_word.h"
#include "trireme/checkpoint/format/folder.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = checkpoint::format::kJobIdName;
constexpr std::size_t kDigits = 16;

// The id in a checkpoint's metadata; empty if there is none.
std::string id_in(const checkpoint::Checkpoint& from) {
  const auto meta = nlohmann::json::parse(from.meta(), nullptr, /*allow_exceptions=*/false);
  return meta.is_object() ? meta.value("job_id", "") : "";
}

// Nullopt for a checkpoint that is damaged, removed or not signed, which the caller ignores.
std::optional<checkpoint::Checkpoint> open_if_whole(
    const fs::path& path, const checkpoint::format::ReadOptions& reading) {
  try {
    return checkpoint::Checkpoint::open(path, reading);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string read_job_id(const fs::path& job) {
  const fs::path file = job / kFile;
  if (!fs::exists(file)) return {};
  std::string text = read_file(file);
  if (text.ends_with('\n')) text.pop_back();
  if (text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos) {
    return text;
  }
  throw Error(ErrorCode::Corrupt, file.string() + " is not a job id, which has 16 hexadecimal " +
                                      "digits. Delete it to use the id of the checkpoints");
}

void write_job_id(const fs::path& job, const std::string& id) {
  write_file_atomically(job / kFile, id + "\n");
}

std::string authenticated_job_id(const fs::path& job,
                                 const checkpoint::format::ReadOptions& reading) {
  const std::string own = read_job_id(job);
  if (!reading.key) return own;
  fs::path first;
  std::string id = own;
  for (const auto& listed : checkpoint::format::list_checkpoints(job / "checkpoints")) {
    const auto opened = open_if_whole(listed.path, reading);
    const std::string other = opened ? id_in(*opened) : "";
    if (other.empty() || other == id) continue;
    if (!own.empty()) expect_checkpoint_of(own, job, *opened);
    if (!id.empty()) {
      throw Error(ErrorCode::InvalidInput,
                  first.string() + " and " + listed.path.string() + " belong to two jobs (" + id +
                      " and " + other + "), and " + (job / kFile).string() +
                      " is missing. Remove the checkpoints of the other job");
    }
    id = other;
    first = listed.path;
  }
  return own;
}

JobIds agree_on_job_id(const comm::Group& group, const fs::path& job,
                       const checkpoint::format::ReadOptions& reading) {
  std::string both(2 * kDigits, ' ');
  if (group.rank() == 0) {
    const std::string own = job.empty() ? "" : authenticated_job_id(job, reading);
    both = (own.empty() ? std::string(kDigits, ' ') : own) + secure_random_hex(kDigits / 2);
  }
  group
      .broadcast({both.data(), both.size(), comm::DType::UInt8}, 0,
                 {.label = "job id", .deadline = Deadline::after(group.timeouts().files())})
      .wait();
  const std::string own = both.substr(0, kDigits);
  return {.own = own.starts_with(' ') ? "" : own, .fresh = both.substr(kDigits)};
}

void expect_checkpoint_of(const std::string& id, const fs::path& job,
                          const checkpoint::Checkpoint& from) {
  const std::string other = id_in(from);
  if (id.empty() || other.empty() || id == other) return;
  throw Error(ErrorCode::InvalidInput,
              from.path().string() + " was written by another job (" + other + "; this one is " +
                  id + "). To begin a new job with its weights, set " +
                  shell_word("model.load=" + from.path().string()) +
                  "; if it belongs to this job, delete " + (job / kFile).string());
}

}  // namespace trireme::train
