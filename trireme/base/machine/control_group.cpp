#include "trireme/base/machine/control_group.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace trireme {
namespace {

namespace fs = std::filesystem;

// True if `name` is one of the comma-separated words of `list`.
bool lists(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == name) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

// The path of this process's control group within the hierarchy.
std::optional<std::string> group_path(const fs::path& root, std::string_view controller) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? names.empty() : lists(names, controller)) {
      return line.substr(second + 1);
    }
  }
  return std::nullopt;
}

struct Mount {
  std::string within;  // the part of the hierarchy that is mounted
  std::string point;
};

std::optional<Mount> mount_of(const fs::path& root, std::string_view controller) {
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash));
    std::istringstream after(line.substr(dash + 3));
    std::string id, parent, device, type, source, options;
    Mount mount;
    before >> id >> parent >> device >> mount.within >> mount.point;
    after >> type >> source >> options;
    const bool is_it =
        controller.empty() ? type == "cgroup2" : type == "cgroup" && lists(options, controller);
    if (is_it) return mount;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ControlGroup> ControlGroup::find(std::string_view controller, const fs::path& root) {
  const auto path = group_path(root, controller);
  const auto mount = mount_of(root, controller);
  if (!path || !mount) return std::nullopt;
  // In a container the mount exposes only part of the hierarchy, and the path is relative to its
  // top.
  fs::path relative = fs::path(*path).relative_path();
  const fs::path within = fs::path(mount->within).relative_path();
  if (!within.empty()) {
    const fs::path inside = relative.lexically_relative(within);
    relative = inside.empty() || *inside.begin() == ".." || inside == "." ? fs::path() : inside;
  }
  const fs::path point = root / fs::path(mount->point).relative_path();
  return ControlGroup(point, relative.empty() ? point : point / relative);
}

std::vector<fs::path> ControlGroup::upwards() const {
  std::vector<fs::path> folders{own_};
  while (folders.back() != mount_ && folders.back().has_relative_path()) {
    folders.push_back(folders.back().parent_path());
  }
  return folders;
}

}  // namespace trireme
