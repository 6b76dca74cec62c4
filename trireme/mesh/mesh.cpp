#include "trireme/mesh/mesh.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::mesh {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::InvalidInput, why);
}

std::string text_of(const std::vector<Axis>& axes) {
  std::string text;
  for (const Axis& axis : axes) {
    text += (text.empty() ? "" : " x ") + axis.name + " " + std::to_string(axis.size);
  }
  return text;
}

void check(const std::vector<Axis>& axes, const std::vector<int>& order, int ranks) {
  std::int64_t places = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].size < 1) refuse("an axis needs at least one place: " + text_of(axes));
    places *= axes[i].size;
    for (std::size_t j = 0; j < i; ++j) {
      if (axes[i].name == axes[j].name) refuse("two axes are called " + axes[i].name);
    }
  }
  if (places != ranks) {
    refuse("a mesh of " + text_of(axes) + " has " + std::to_string(places) + " places, for " +
           std::to_string(ranks) + " ranks");
  }
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> everybody(static_cast<std::size_t>(ranks));
  std::iota(everybody.begin(), everybody.end(), 0);
  if (sorted != everybody) refuse("a mesh holds every rank once");
}

}  // namespace

Mesh::Mesh(const comm::Group& all, std::vector<Axis> axes, std::vector<int> order)
    : all_(all), axes_(std::move(axes)) {
  if (order.empty()) {
    order.resize(static_cast<std::size_t>(all.size()));
    std::iota(order.begin(), order.end(), 0);
  }
  check(axes_, order, all.size());
  const auto mine =
      static_cast<std::size_t>(std::find(order.begin(), order.end(), all.rank()) - order.begin());
  std::size_t stride = order.size();
  for (const Axis& axis : axes_) {
    const auto size = static_cast<std::size_t>(axis.size);
    stride /= size;
    const std::size_t place = mine / stride % size;
    std::vector<int> ranks;
    for (std::size_t i = 0; i < size; ++i) ranks.push_back(order[mine + (i - place) * stride]);
    places_.push_back(static_cast<int>(place));
    const bool is_all = axes_.size() == 1 && std::is_sorted(ranks.begin(), ranks.end());
    groups_.push_back(is_all ? all : all.subgroup(ranks));
  }
  order_ = std::move(order);
}

std::optional<Mesh> Mesh::of_hosts(const comm::Group& all) {
  const std::vector<int> host_of = all.hosts();
  const int hosts = 1 + *std::max_element(host_of.begin(), host_of.end());
  std::vector<int> order(host_of.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return host_of[static_cast<std::size_t>(a)] < host_of[static_cast<std::size_t>(b)];
  });
  for (int host = 0; host < hosts; ++host) {
    if (std::count(host_of.begin(), host_of.end(), host) * hosts != all.size()) return std::nullopt;
  }
  return Mesh(all, {{"across", hosts}, {"inside", all.size() / hosts}}, std::move(order));
}

int Mesh::place(std::string_view axis, int rank) const {
  const std::size_t index = index_of(axis);
  auto at = static_cast<int>(std::find(order_.begin(), order_.end(), rank) - order_.begin());
  for (std::size_t faster = axes_.size(); --faster > index;) at /= axes_[faster].size;
  return at % axes_[index].size;
}

bool Mesh::has(std::string_view axis) const noexcept {
  return std::ranges::find(axes_, axis, &Axis::name) != axes_.end();
}

std::vector<Place> Mesh::places(std::string_view except) const {
  std::vector<Place> all;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].name == except) continue;
    all.push_back({.axis = axes_[i].name, .index = places_[i], .size = axes_[i].size});
  }
  return all;
}

std::size_t Mesh::index_of(std::string_view axis) const {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].name == axis) return i;
  }
  refuse("no axis is called " + std::string(axis) + "; there are " + text_of(axes_));
}

}  // namespace trireme::mesh
