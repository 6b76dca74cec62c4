// JobFile is a file that a job needs on every host: its program, a recipe. A host that has the same
// bytes at the same path uses those; another host keeps a copy in its cache, named by checksum.
//
// Cache:         $TRIREME_CACHE, or trireme below $XDG_CACHE_HOME or ~/.cache: <sha-256>/<file's
//                name>. Copies remain for the next job; those unused for kKeepTime are removed when
//                the next copy arrives. Only the user can read or write them.
// Check:         the checksum is computed again before every use and after every copy. A copy gets
//                its name only once it is complete.
// Errors:        NotFound, Io, Exhausted; Corrupt for a copy whose checksum is wrong.
// Thread safety: one thread per cargo; two processes may fetch the same file at the same time.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "trireme/base/bytes.h"
#include "trireme/base/file/descriptor.h"

namespace trireme::cluster::launch::hosts {

struct JobFile {
  std::filesystem::path path{};  // on the launching host
  std::uint64_t size = 0;
  std::string digest{};  // SHA-256, 64 hexadecimal digits
  bool is_executable = false;

  static JobFile of(const std::filesystem::path& path);
};

// SHA-256 of a file. Throws NotFound, Io.
std::string digest_of_file(const std::filesystem::path& path);

class Cache {
 public:
  static constexpr auto kKeepTime = std::chrono::hours(14 * 24);

  // This user's cache. Throws InvalidInput if neither a home directory nor one of the variables is
  // set.
  static std::filesystem::path own_root();

  explicit Cache(std::filesystem::path root = own_root()) : root_(std::move(root)) {}

  // The file on this host: at its own path, or a copy. nullopt: it must be fetched.
  std::optional<std::filesystem::path> find(const JobFile& job_file) const;
  // Where a copy of it is, or would be.
  std::filesystem::path place_of(const JobFile& job_file) const;
  // Removes copies that were not used for this long; returns how many.
  int sweep(std::chrono::hours unused = kKeepTime) const;

 private:
  std::filesystem::path root_;
};

// A copy that is being transferred into a cache.
class Fetch {
 public:
  Fetch(const Cache& cache, JobFile job_file);
  ~Fetch();
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;

  void write(ByteView piece);
  // Verifies the copy and gives it its final name, which is returned.
  std::filesystem::path finish();

 private:
  JobFile job_file_;
  std::filesystem::path place_;
  std::filesystem::path part_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace trireme::cluster::launch::hosts
