#include "trireme/cluster/membership/proposal.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace trireme::cluster::membership {
namespace {

// Removes the workers with the highest numbers until `count` are left; returns them, ascending.
std::vector<int> dismiss(std::vector<EpochMember>& entries, std::size_t count) {
  std::vector<int> workers;
  for (const EpochMember& entry : entries) workers.push_back(entry.worker);
  if (workers.size() <= count) return {};
  std::sort(workers.begin(), workers.end());
  workers.erase(workers.begin(), workers.begin() + static_cast<std::ptrdiff_t>(count));
  std::erase_if(entries, [&](const EpochMember& entry) {
    return std::binary_search(workers.begin(), workers.end(), entry.worker);
  });
  return workers;
}

struct FreePlaces {
  Places taken{};
  std::size_t count = 0;        // of members
  int places_max = kPlacesMax;  // per host
};

// Admits workers that are welcome, each at the lowest free place of its host.
void take_in(std::vector<EpochMember>& entries, FreePlaces room, const Presence& presence,
             const std::function<bool(int)>& is_welcome, bool is_new) {
  std::map<std::string, int> first_free;  // by host: the lowest place that may be free
  for (const auto& [worker, member] : presence.workers) {
    if (entries.size() >= room.count) return;
    if (!is_welcome(worker)) continue;
    int& place = first_free[member.host];
    while (room.taken.contains({member.host, place})) ++place;
    if (place < room.places_max) entries.push_back({worker, place++, is_new, member});
  }
}

}  // namespace

Places places_of(const Epoch& epoch) {
  Places places;
  for (const EpochMember& entry : epoch.members()) places.emplace(entry.about.host, entry.place);
  return places;
}

Epoch propose(const ProposalInput& input) {
  std::vector<EpochMember> entries;
  for (EpochMember entry : input.base.members()) {
    if (input.dead.contains(entry.worker)) continue;
    entry.is_new = entry.is_new && !input.has_state.contains(entry.worker);
    entries.push_back(std::move(entry));
  }
  std::vector<int> dismissed;
  for (const int worker : input.dismissed) {
    if (input.presence == nullptr || input.presence->workers.contains(worker)) {
      dismissed.push_back(worker);
    }
  }
  if (input.presence == nullptr) {
    return Epoch(input.base.number() + 1, std::move(entries), std::move(dismissed));
  }
  const int wanted = std::clamp(input.presence->wanted.value_or(input.most), 1, input.most);
  if (input.presence->wanted) {
    const std::vector<int> more = dismiss(entries, static_cast<std::size_t>(wanted));
    dismissed.insert(dismissed.end(), more.begin(), more.end());
  }
  FreePlaces room{.taken = places_of(input.base), .count = static_cast<std::size_t>(wanted)};
  room.taken.insert(input.avoided.begin(), input.avoided.end());
  const auto is_welcome = [&](int worker) {
    return !input.base.contains(worker) && !input.dismissed.contains(worker) &&
           !input.dead.contains(worker);
  };
  take_in(entries, std::move(room), *input.presence, is_welcome, true);
  return Epoch(input.base.number() + 1, std::move(entries), std::move(dismissed));
}

Epoch propose_first(const Epoch& before, const Presence& presence, int most) {
  std::vector<EpochMember> entries;
  std::vector<int> dismissed;
  for (const int worker : before.dismissed()) {
    if (presence.workers.contains(worker)) dismissed.push_back(worker);
  }
  const auto is_welcome = [&](int worker) {
    return !before.contains(worker) && !before.has_dismissed(worker);
  };
  take_in(entries, {.count = static_cast<std::size_t>(most), .places_max = most}, presence,
          is_welcome, false);
  return Epoch(before.number() + 1, std::move(entries), std::move(dismissed));
}

}  // namespace trireme::cluster::membership
