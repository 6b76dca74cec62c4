// ControlGroup finds the control group that this process lives in, and all those above it, in one
// hierarchy of either version: the folders whose limits hold for us, all at once.
//
// Failure: what is missing or unreadable is no control group: a host without any is a normal host.

#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace trireme {

class ControlGroup {
 public:
  // The hierarchy of version 1 that has this controller; "" is version 2. `root` is put before
  // every path; tests have a tree of their own.
  static std::optional<ControlGroup> find(std::string_view controller,
                                          const std::filesystem::path& root = "/");

  const std::filesystem::path& own() const noexcept { return own_; }
  // Our own folder first, the top of what is mounted last.
  std::vector<std::filesystem::path> upwards() const;

 private:
  ControlGroup(std::filesystem::path mount, std::filesystem::path own)
      : mount_(std::move(mount)), own_(std::move(own)) {}

  std::filesystem::path mount_;
  std::filesystem::path own_;  // mount/…/our group
};

}  // namespace trireme
