#include "trireme/cluster/membership/epoch.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/cluster/rank_names.h"

namespace trireme::cluster::membership {
namespace {

constexpr std::uint8_t kEpochForm = 0x54;

template <class Value>
std::optional<Value> repeated(std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  const auto found = std::adjacent_find(values.begin(), values.end());
  return found == values.end() ? std::nullopt : std::optional(*found);
}

// Describes what is wrong with these members; empty if nothing is. All ranks of a large job call
// it.
std::string fault_of(std::span<const EpochMember> entries, std::span<const int> dismissed) {
  std::vector<int> workers(dismissed.begin(), dismissed.end());
  std::map<std::string_view, int> hosts;
  std::vector<std::pair<int, int>> places;
  const int places_max = std::max(kPlacesMax, static_cast<int>(entries.size()));
  for (const EpochMember& entry : entries) {
    if (entry.worker < 0 || entry.about.rank != entry.worker) {
      return "worker " + std::to_string(entry.worker) + " is the record of another worker";
    }
    if (entry.place < 0 || entry.place >= places_max) {
      return "worker " + std::to_string(entry.worker) + " has place " + std::to_string(entry.place);
    }
    workers.push_back(entry.worker);
    const int next = static_cast<int>(hosts.size());
    places.emplace_back(hosts.try_emplace(entry.about.host, next).first->second, entry.place);
  }
  if (const auto worker = repeated(std::move(workers))) {
    return "worker " + std::to_string(*worker) + " is listed twice";
  }
  if (const auto place = repeated(std::move(places))) {
    return "place " + std::to_string(place->second) + " of a host is taken twice";
  }
  return {};
}

}  // namespace

Epoch::Epoch(std::uint64_t number, std::vector<EpochMember> members, std::vector<int> dismissed)
    : number_(number), members_(std::move(members)), dismissed_(std::move(dismissed)) {
  const std::string fault = fault_of(members_, dismissed_);
  TRIREME_CHECK(fault.empty(), "epoch ", number_, ": ", fault);
}

const EpochMember& Epoch::member(int rank) const {
  TRIREME_CHECK(rank >= 0 && rank < size(), "rank ", rank, " is outside an epoch of ", size());
  return members_[static_cast<std::size_t>(rank)];
}

std::optional<int> Epoch::rank_of(int worker) const noexcept {
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    if (members_[rank].worker == worker) return static_cast<int>(rank);
  }
  return std::nullopt;
}

bool Epoch::has_dismissed(int worker) const noexcept {
  return std::find(dismissed_.begin(), dismissed_.end(), worker) != dismissed_.end();
}

std::vector<int> Epoch::without(const Epoch& before) const {
  std::vector<int> workers;
  for (const EpochMember& entry : before.members()) {
    if (!contains(entry.worker)) workers.push_back(entry.worker);
  }
  return workers;
}

Roster Epoch::roster() const {
  std::vector<Member> members;
  for (const EpochMember& entry : members_) {
    Member member = entry.about;
    member.rank = static_cast<int>(members.size());
    member.size = size();
    members.push_back(std::move(member));
  }
  return Roster(number_, std::move(members));
}

Bytes encode(const Epoch& epoch) {
  ByteWriter out;
  out.put(kEpochForm).put(epoch.number());
  std::vector<const Member*> members;
  for (const EpochMember& entry : epoch.members()) members.push_back(&entry.about);
  write_members(out, members);
  for (const EpochMember& entry : epoch.members()) {
    out.put<std::int32_t>(entry.place).put<std::uint8_t>(entry.is_new ? 1 : 0);
  }
  out.put(static_cast<std::uint32_t>(epoch.dismissed().size()));
  for (const int worker : epoch.dismissed()) out.put<std::int32_t>(worker);
  out.put(static_cast<std::uint32_t>(epoch.causes().size()));
  for (const auto& [worker, cause] : epoch.causes()) {
    out.put<std::int32_t>(worker).put_text(cause);
  }
  return std::move(out).take();
}

Epoch decode_epoch(ByteView bytes) {
  ByteReader in(bytes);
  if (in.get<std::uint8_t>() != kEpochForm) {
    throw Error(ErrorCode::Protocol, "not an epoch of this version");
  }
  const auto number = in.get<std::uint64_t>();
  std::vector<Member> members = read_members(in);
  std::vector<EpochMember> entries;
  entries.reserve(members.size());
  for (Member& member : members) {
    entries.push_back({.worker = member.rank, .about = std::move(member)});
  }
  for (EpochMember& entry : entries) {
    entry.place = in.get<std::int32_t>();
    const auto is_new = in.get<std::uint8_t>();
    if (is_new > 1) throw Error(ErrorCode::Protocol, "epoch: invalid flag for a new member");
    entry.is_new = is_new == 1;
  }
  const auto dismissed_count = in.get<std::uint32_t>();
  std::vector<int> dismissed;
  for (std::uint32_t i = 0; i < dismissed_count; ++i) dismissed.push_back(in.get<std::int32_t>());
  std::map<int, std::string> causes;
  for (auto left = in.get<std::uint32_t>(); left > 0; --left) {
    const int worker = in.get<std::int32_t>();
    causes[worker] = in.get_text();
  }
  in.expect_end();
  const std::string fault = fault_of(entries, dismissed);
  if (number == 0 || !fault.empty()) {
    throw Error(ErrorCode::Protocol, "epoch " + std::to_string(number) + ": " + fault);
  }
  Epoch epoch(number, std::move(entries), std::move(dismissed));
  for (auto& [worker, cause] : causes) epoch.set_cause(worker, std::move(cause));
  return epoch;
}

std::string name_workers(std::span<const int> workers, const std::string& noun) {
  return workers.empty() ? "no " + noun : noun + name_ranks(workers).substr(4);
}

}  // namespace trireme::cluster::membership
