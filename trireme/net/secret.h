// Secret is the 256 bits that every part of one job knows and nobody else does.
//
// The launcher makes it and hands it on in the environment or in a file that only its user can
// read; never on a command line, which every user of a host can list. Nothing prints it.
//
// Failure:  InvalidInput with what to type; NotFound for a missing file. No message quotes it.
// Threads:  a value; copies are independent.
// Lifetime: each copy is wiped when it is destroyed.

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

  // std::getenv, or what a test says the environment is; null where unset.
  using Lookup = std::function<const char*(const char* name)>;

  static Secret generate();
  static Secret from_hex(std::string_view hex);
  // The file holds 64 hexadecimal digits, belongs to this user or root, and is readable by
  // nobody else.
  static Secret from_file(const std::filesystem::path& path);
  // The variable wins over the file, since a launcher sets it for the job at hand. Nothing when
  // neither is set.
  static std::optional<Secret> from_environment(const Lookup& lookup);

  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret();

  // For the environment of a process that is being launched, and for nothing else.
  std::string to_hex() const;
  // Writes a file that from_file() accepts, replacing what was there at once.
  void save(const std::filesystem::path& path) const;
  ByteView bytes() const noexcept { return bytes_; }

 private:
  Secret() = default;

  std::array<std::byte, kSize> bytes_{};
};

}  // namespace trireme::net
