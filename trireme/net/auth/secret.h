// Secret is the 256-bit key that all components of one job share.
//
// The launcher generates it and passes it on in the environment or in a file that only its user can
// read. It is never passed on a command line, which every user of a host can list, and never
// printed.
//
// Errors:        InvalidInput with instructions; NotFound for a missing file. No message contains
//                the secret.
// Thread safety: a value type; copies are independent.
// Lifetime:      each copy is wiped when it is destroyed.

#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "trireme/base/bytes.h"

namespace trireme::net {

class Secret {
 public:
  static constexpr std::size_t kSize = 32;
  static constexpr const char* kVariable = "TRIREME_SECRET";           // 64 hexadecimal digits
  static constexpr const char* kFileVariable = "TRIREME_SECRET_FILE";  // a path

  // std::getenv, or a test's substitute for the environment; returns null if unset.
  using Lookup = std::function<const char*(const char* name)>;

  static Secret generate();
  static Secret from_hex(std::string_view hex);
  // The file must contain 64 hexadecimal digits, belong to this user or root, and not be readable
  // by other users.
  static Secret from_file(const std::filesystem::path& path);
  // The variable takes precedence over the file, because a launcher sets it for the current job.
  // Returns nothing if neither is set.
  static std::optional<Secret> from_environment(const Lookup& lookup);

  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret();

  // Only for the environment of a process that is being launched.
  std::string to_hex() const;
  // Writes a file that from_file() accepts, and atomically replaces an existing one.
  void save(const std::filesystem::path& path) const;
  ByteView bytes() const noexcept { return bytes_; }

 private:
  Secret() = default;

  std::array<std::byte, kSize> bytes_{};
};

}  // namespace trireme::net
