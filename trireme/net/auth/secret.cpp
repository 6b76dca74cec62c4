#include "trireme/net/auth/secret.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/base/file/file.h"

namespace trireme::net {
namespace {

constexpr std::size_t kFileSizeMax = 4096;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw Error(ErrorCode::InvalidInput, "the secret file " + path.string() + " " + why);
}

// Checks the open descriptor instead of the path, so that the checked file is the one that is read.
void check_private(int descriptor, const std::filesystem::path& path) {
  struct stat info{};
  if (::fstat(descriptor, &info) != 0) throw system_error("cannot look at " + path.string(), errno);
  if (!S_ISREG(info.st_mode)) refuse(path, "is not a regular file");
  if (info.st_uid != ::geteuid() && info.st_uid != 0) {
    refuse(path, "belongs to another user, who therefore knows the secret; make one of your own");
  }
  if ((info.st_mode & 077) != 0) {
    refuse(path, "can be read or written by other users; type: chmod 600 '" + path.string() + "'");
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

Secret Secret::generate() {
  Secret out;
  secure_random(out.bytes_);
  return out;
}

Secret Secret::from_hex(std::string_view hex) {
  const bool is_hex = std::ranges::all_of(hex, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
  if (!is_hex || hex.size() != 2 * kSize) {
    throw Error(ErrorCode::InvalidInput, "a secret is 64 hexadecimal digits, and this one has " +
                                             std::to_string(hex.size()) + " characters" +
                                             (is_hex ? "" : ", not all of them digits") +
                                             "; make one with: openssl rand -hex 32");
  }
  Bytes raw = trireme::from_hex(hex);
  Secret out;
  std::ranges::copy(raw, out.bytes_.begin());
  ::explicit_bzero(raw.data(), raw.size());
  return out;
}

Secret Secret::from_file(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file && errno == ENOENT) {
    throw Error(ErrorCode::NotFound, "there is no secret file " + path.string());
  }
  if (!file) throw system_error("cannot read the secret file " + path.string(), errno);
  check_private(file.get(), path);
  std::array<char, kFileSizeMax> text{};
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  if (size < 0) throw system_error("cannot read the secret file " + path.string(), errno);
  try {
    Secret out = from_hex(trim({text.data(), static_cast<std::size_t>(size)}));
    ::explicit_bzero(text.data(), text.size());
    return out;
  } catch (const Error& error) {
    ::explicit_bzero(text.data(), text.size());
    refuse(path, "does not hold a secret: " + error.message());
  }
}

std::optional<Secret> Secret::from_environment(const Lookup& lookup) {
  if (const char* hex = lookup(kVariable); hex != nullptr && *hex != '\0') {
    try {
      return from_hex(trim(hex));
    } catch (const Error& error) {
      throw Error(ErrorCode::InvalidInput, std::string(kVariable) + ": " + error.message());
    }
  }
  if (const char* path = lookup(kFileVariable); path != nullptr && *path != '\0') {
    try {
      return from_file(path);
    } catch (const Error& error) {
      throw Error(error.code(), std::string(kFileVariable) + ": " + error.message());
    }
  }
  return std::nullopt;
}

Secret::~Secret() {
  ::explicit_bzero(bytes_.data(), bytes_.size());
}

std::string Secret::to_hex() const {
  return trireme::to_hex(bytes_);
}

void Secret::save(const std::filesystem::path& path) const {
  write_file_atomically(path, to_hex() + "\n", {.mode = 0600});
}

}  // namespace trireme::net
