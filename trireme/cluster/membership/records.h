// Where an elastic job's membership lies in its store, and what was found there.
//
//   | key                   | what                                                             |
//   | charter               | the first worker's record: build and job that all must have      |
//   | worker/<id>           | a worker's record, while its session lives                       |
//   | wanted                | how many workers a person wants, in decimal; absent: no wish     |
//   | epoch/<n>             | the epoch of that number, written once and never erased          |
//   | report/<n>/<worker>   | what a member says of itself when it enters it, written once     |
//   | farewell/<worker>     | a dismissed worker has stopped; its record went before           |
//   | wake/<id>             | nothing; a worker that ends wakes its own watch by it            |
//   | well/<id>             | a count that goes up while the worker lives, for other hosts     |
//   | newest                | a hint: some recent epoch's number, for those who come           |
//
// What is watched has a prefix in common, so that one list or watch tells it all.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trireme/cluster/roster.h"
#include "trireme/cluster/store_message.h"

namespace trireme::cluster::membership {

inline constexpr std::string_view kPresencePrefix = "w";
inline constexpr std::string_view kWorkerPrefix = "worker/";
inline constexpr std::string_view kWantedKey = "wanted";
inline constexpr std::string_view kCharterKey = "charter";
inline constexpr std::string_view kNewestKey = "newest";

std::string worker_key(int worker);
std::string wake_key(int worker);
std::string well_key(int worker);
std::string epoch_key(std::uint64_t number);
std::string report_prefix(std::uint64_t number);
std::string report_key(std::uint64_t number, int worker);
std::string farewell_key(int worker);
// The worker at the end of such a key; nothing for others.
std::optional<int> worker_in(std::string_view key);

// Nothing for what is no decimal number.
std::optional<std::uint64_t> number_in(ByteView value);

// Who is there, by number, and how many are wanted.
struct Presence {
  std::map<int, Member> workers;
  std::optional<int> wanted;
};

// From a list of kPresencePrefix. Records that cannot be read are left out.
Presence presence_in(std::span<const StoreItem> items);
// The same, change by change.
void note(Presence& presence, std::string_view key, const Bytes* value);

// Says how two workers differ in what must be equal; empty if they do not.
std::string difference(const Member& one, const Member& other);

}  // namespace trireme::cluster::membership
