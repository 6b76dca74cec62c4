// Cargo is a file that a job needs on every host: its program, a recipe. A host that has the same
// bytes at the same path uses those; another keeps a copy in its cache, named by checksum.
//
// Cache:   $TRIREME_CACHE, or trireme below $XDG_CACHE_HOME or ~/.cache: <sha-256>/<file's name>.
//          Copies stay there for the next job; those that nobody used for kKeepTime are removed
//          when the next one comes. Nobody but the user can read or write them.
// Check:   the checksum is computed anew before every use and after every copy. A copy appears
//          under its name only once it is whole.
// Failure: NotFound, Io, Exhausted; Corrupt for a copy whose checksum is wrong.
// Threads: one a cargo; two processes may fetch the same file at once.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "trireme/base/bytes.h"
#include "trireme/base/descriptor.h"

namespace trireme::cluster::launch::hosts {

struct Cargo {
  std::filesystem::path path{};  // on the host that launches
  std::uint64_t size = 0;
  std::string digest{};  // SHA-256, 64 hexadecimal digits
  bool is_executable = false;

  static Cargo of(const std::filesystem::path& path);
};

// SHA-256 of a file. Throws NotFound, Io.
std::string digest_of_file(const std::filesystem::path& path);

class Cache {
 public:
  static constexpr auto kKeepTime = std::chrono::hours(14 * 24);

  // Where this user's is. Throws InvalidInput where there is neither a home nor a variable.
  static std::filesystem::path own_root();

  explicit Cache(std::filesystem::path root = own_root()) : root_(std::move(root)) {}

  // The file on this host: at its own path, or a copy. Nothing: it has to be fetched.
  std::optional<std::filesystem::path> find(const Cargo& cargo) const;
  // Where a copy of it is, or would be.
  std::filesystem::path place_of(const Cargo& cargo) const;
  // Removes copies that nobody used for so long; says how many.
  int sweep(std::chrono::hours unused = kKeepTime) const;

 private:
  std::filesystem::path root_;
};

// A copy on its way into a cache.
class Fetch {
 public:
  Fetch(const Cache& cache, Cargo cargo);
  ~Fetch();
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;

  void write(ByteView piece);
  // Checks it and gives it its name, which is returned.
  std::filesystem::path finish();

 private:
  Cargo cargo_;
  std::filesystem::path place_;
  std::filesystem::path part_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace trireme::cluster::launch::hosts
