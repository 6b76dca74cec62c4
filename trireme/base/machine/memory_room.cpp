#include "trireme/base/machine/memory_room.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

#include "trireme/base/machine/control_group.h"

namespace trireme {
namespace {

namespace fs = std::filesystem;

// The file names that versions 1 and 2 use for the same values.
struct Names {
  const char* controller;
  const char* limit;
  const char* usage;
  const char* reclaimable;  // in memory.stat
};

constexpr Names kVersions[] = {
    {"", "memory.max", "memory.current", "inactive_file"},
    {"memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}};

// The first number in a file; nothing if the file is missing or says "max".
std::optional<std::uint64_t> first_number(const fs::path& path) {
  std::ifstream in(path);
  std::uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;
}

std::uint64_t number_of(const fs::path& path, const std::string& key) {
  std::ifstream in(path);
  std::string name, rest;
  for (std::uint64_t value = 0; in >> name >> value; std::getline(in, rest)) {
    if (name == key) return value;
  }
  return 0;
}

std::uint64_t less(std::uint64_t from, std::uint64_t taken) {
  return from > taken ? from - taken : 0;
}

// The usage includes the page cache. Inactive file pages can be reclaimed when memory is needed, so
// they count as free.
std::uint64_t room_in(const fs::path& folder, const Names& names) {
  const auto limit = first_number(folder / names.limit);
  const auto usage = first_number(folder / names.usage);
  if (!limit || !usage) return UINT64_MAX;
  return less(*limit, less(*usage, number_of(folder / "memory.stat", names.reclaimable)));
}

}  // namespace

std::uint64_t memory_room(const fs::path& root) {
  std::uint64_t least = UINT64_MAX;
  if (const std::uint64_t kilobytes = number_of(root / "proc/meminfo", "MemAvailable:")) {
    least = kilobytes * 1024;
  }
  for (const Names& names : kVersions) {
    const auto group = ControlGroup::find(names.controller, root);
    if (!group) continue;
    for (const fs::path& folder : group->upwards()) least = std::min(least, room_in(folder, names));
  }
  return least;
}

}  // namespace trireme
