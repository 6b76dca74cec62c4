// The keys of a job's membership in its store, and functions to read them.
//
//   | key                   | value                                                            |
//   | charter               | the first worker's record: the build and job that all must have; |
//   |                       | in a job of fixed size while its session lives                   |
//   | worker/<id>           | a worker's record, while its session lives                       |
//   | worker/<id>/end       | why the worker is gone, from itself or from a worker that        |
//   |                       | detected its death                                               |
//   | announced             | how many workers have ever announced themselves, or more         |
//   | wanted                | the wanted number of workers, in decimal; absent: not set        |
//   | epoch/<n>             | the epoch of that number, or a refusal; written once and never   |
//   |                       | erased                                                           |
//   | report/<n>/<worker>   | a member's report when it enters epoch n, written once           |
//   | farewell/<worker>     | a dismissed worker has stopped; its record was erased before     |
//   | well/<id>             | heartbeat count and progress report of a live worker, for        |
//   |                       | members on other hosts, and for the launcher if it is alone;     |
//   |                       | kWellEnd after the last one                                      |
//   | launcher              | written by the launcher, to see that it can write to the store   |
//   | newest                | a hint for workers that join: the number of some recent epoch    |
//
// The watched keys have a common prefix, so that one list or watch covers them all. The members of
// a job of fixed size watch only worker/, without the heartbeats.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trireme/base/error.h"
#include "trireme/base/liveness.h"
#include "trireme/cluster/roster.h"
#include "trireme/cluster/store/store_message.h"

namespace trireme::cluster::membership {

inline constexpr std::string_view kPresencePrefix = "w";
inline constexpr std::string_view kWorkerPrefix = "worker/";
inline constexpr std::string_view kWantedKey = "wanted";
inline constexpr std::string_view kCharterKey = "charter";
inline constexpr std::string_view kAnnouncedKey = "announced";
inline constexpr std::string_view kNewestKey = "newest";

std::string worker_key(int worker);
std::string end_key(int worker);
std::string well_key(int worker);
std::string epoch_key(std::uint64_t number);
std::string report_prefix(std::uint64_t number);
std::string report_key(std::uint64_t number, int worker);
std::string farewell_key(int worker);
// The worker at the end of such a key; nothing for other keys.
std::optional<int> worker_in(std::string_view key);
// The worker of an end_key(); nothing for other keys.
std::optional<int> ended_worker_in(std::string_view key);

// A worker that is gone, and why.
struct WorkerEnd {
  int worker = 0;
  std::string cause{};
  bool has_left = false;  // in an orderly way
};
// The value of worker/<id>/end.
Bytes encode(const WorkerEnd& end);
WorkerEnd decode_end(int worker, ByteView value);

// The value of well/<id> after the last heartbeat of a worker that leaves.
inline constexpr std::string_view kWellEnd = "end";
// The value of well/<id>: the heartbeat count and the worker's progress report.
std::string well_text(std::uint64_t count, const Liveness::Report& report);
// Nothing for a value that is not such a text.
std::optional<Liveness::Report> report_in_well(ByteView value);

// Nothing for a value that is not a decimal number.
std::optional<std::uint64_t> number_in(ByteView value);

// The announced workers, by number, and the wanted number of workers.
struct Presence {
  std::map<int, Member> workers;
  std::optional<int> wanted;
};

// From a list of kPresencePrefix. Records that cannot be decoded are left out.
Presence presence_in(std::span<const StoreItem> items);
// The same, for one change.
void note(Presence& presence, std::string_view key, const Bytes* value);

// Describes how two workers differ in what must be equal; empty if they do not. `noun`: what a
// worker is called.
std::string difference(const Member& one, const Member& other, const std::string& noun);

// Why a job cannot begin, in place of its first epoch.
struct Refusal {
  int worker = 0;  // which found that
  ErrorCode code = ErrorCode::Mismatch;
  std::string text{};
};
Bytes encode(const Refusal& refusal);
// Nothing for a value that is not a refusal.
std::optional<Refusal> refusal_in(ByteView value);

}  // namespace trireme::cluster::membership
