#include "trireme/cluster/host_id.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace trireme::cluster {
namespace {

constexpr const char* kVariable = "TRIREME_HOST";

std::string own_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::string boot_id() {
  // Files in /proc report a size of zero, so read_file() cannot read them.
  std::array<char, 64> text{};
  FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "re");
  if (file == nullptr) return own_name();
  const bool has_line = std::fgets(text.data(), text.size(), file) != nullptr;
  std::fclose(file);
  std::string id = has_line ? text.data() : "";
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id.empty() ? own_name() : id;
}

std::string namespace_id(const char* path) {
  struct stat status{};
  if (::stat(path, &status) != 0) return "?";
  return std::to_string(status.st_ino);
}

}  // namespace

std::string host_id(const Lookup& lookup) {
  std::string id = boot_id() + "/net:" + namespace_id("/proc/self/ns/net") +
                   "/mnt:" + namespace_id("/proc/self/ns/mnt");
  const char* split = lookup(kVariable);
  if (split != nullptr && *split != '\0') id += "/" + std::string(split);
  return id;
}

std::string host_name(const Lookup& lookup) {
  const char* split = lookup(kVariable);
  return split != nullptr && *split != '\0' ? own_name() + "/" + split : own_name();
}

}  // namespace trireme::cluster
