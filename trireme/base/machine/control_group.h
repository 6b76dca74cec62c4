// ControlGroup finds the control group (cgroup) of this process and all of its ancestors in one
// hierarchy, version 1 or 2. The limits of all these folders apply to this process at the same
// time.
//
// Errors: none; find() returns nothing if the control group is missing or unreadable, because a
//         host without control groups is normal.

#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace trireme {

class ControlGroup {
 public:
  // Finds the version 1 hierarchy with this controller; "" selects version 2. `root` is prepended
  // to every path, so that tests can supply their own tree.
  static std::optional<ControlGroup> find(std::string_view controller,
                                          const std::filesystem::path& root = "/");

  const std::filesystem::path& own() const noexcept { return own_; }
  // This process's folder first, the mount point last.
  std::vector<std::filesystem::path> upwards() const;

 private:
  ControlGroup(std::filesystem::path mount, std::filesystem::path own)
      : mount_(std::move(mount)), own_(std::move(own)) {}

  std::filesystem::path mount_;
  std::filesystem::path own_;  // mount/…/our group
};

}  // namespace trireme
