// Mesh arranges the ranks of a group along named axes (a device mesh). For each axis it has a group
// of the ranks that differ from this rank only along that axis.
//
//   Mesh mesh(group, {{"data", 2}, {"tensor", 4}});     // ranks 0 to 3 are neighbours in "tensor"
//   mesh.group("tensor").all_reduce(...);
//
// The last axis varies fastest. If there is one axis, its group is that of all ranks. Creating the
// groups is not a collective; every rank creates them in the same order. A group lives as long as
// any handle to it.
//
// Thread safety: an immutable value.
// Errors:        InvalidInput if the axes or `order` do not match the ranks of the group.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/comm/group.h"
#include "trireme/mesh/layout.h"

namespace trireme::mesh {

struct Axis {
  std::string name;
  int size = 1;

  friend bool operator==(const Axis&, const Axis&) = default;
};

class Mesh {
 public:
  // `order`: the ranks of the group in mesh order; empty means 0, 1, 2 ...
  Mesh(const comm::Group& all, std::vector<Axis> axes, std::vector<int> order = {});

  // Creates the axes "across" (hosts) and "inside" (the ranks of a host). Returns nothing if the
  // hosts have different numbers of ranks.
  static std::optional<Mesh> of_hosts(const comm::Group& all);

  const comm::Group& all() const noexcept { return all_; }
  const std::vector<Axis>& axes() const noexcept { return axes_; }
  bool has(std::string_view axis) const noexcept;
  int size(std::string_view axis) const { return axes_[index_of(axis)].size; }
  // This rank's index along the axis.
  int place(std::string_view axis) const { return places_[index_of(axis)]; }
  // The same of any rank of all().
  int place(std::string_view axis, int rank) const;
  const comm::Group& group(std::string_view axis) const { return groups_[index_of(axis)]; }
  // This rank's positions along all axes but one, for a Layout.
  std::vector<Place> places(std::string_view except = {}) const;

 private:
  std::size_t index_of(std::string_view axis) const;

  comm::Group all_;
  std::vector<Axis> axes_;
  std::vector<int> order_;           // the ranks of all_, in mesh order
  std::vector<int> places_;          // by axis
  std::vector<comm::Group> groups_;  // by axis
};

}  // namespace trireme::mesh
