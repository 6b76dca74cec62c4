#include "trireme/cluster/membership/records.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>
#include <sstream>

#include "trireme/base/error.h"

namespace trireme::cluster::membership {
namespace {

constexpr std::uint8_t kRefusalForm = 0x61;
constexpr std::string_view kEnd = "/end";
constexpr std::string_view kLeft = "left: ";
constexpr std::string_view kDead = "dead: ";

std::string padded(int worker) {
  char text[16];
  std::snprintf(text, sizeof(text), "%07d", worker);
  return text;
}

}  // namespace

std::string worker_key(int worker) {
  return std::string(kWorkerPrefix) + padded(worker);
}

std::string end_key(int worker) {
  return worker_key(worker) + std::string(kEnd);
}

std::string well_key(int worker) {
  return "well/" + padded(worker);
}

std::string epoch_key(std::uint64_t number) {
  return "epoch/" + std::to_string(number);
}

std::string report_prefix(std::uint64_t number) {
  return "report/" + std::to_string(number) + "/";
}

std::string report_key(std::uint64_t number, int worker) {
  return report_prefix(number) + padded(worker);
}

std::string farewell_key(int worker) {
  return "farewell/" + padded(worker);
}

std::string well_text(std::uint64_t count, const Liveness::Report& report) {
  return std::to_string(count) + " " + std::to_string(report.moves) + " " +
         std::to_string(report.waits) + " " + std::to_string(report.is_waiting) + " " +
         std::to_string(report.is_in_long_phase) + " " + std::to_string(report.step.count());
}

std::optional<Liveness::Report> report_in_well(ByteView value) {
  std::istringstream in{std::string(text_of(value))};
  std::uint64_t count = 0;
  Duration::rep step = 0;
  Liveness::Report report;
  if (!(in >> count >> report.moves >> report.waits >> report.is_waiting >>
        report.is_in_long_phase >> step)) {
    return std::nullopt;
  }
  report.step = Duration(step);
  return report;
}

std::optional<std::uint64_t> number_in(ByteView value) {
  const std::string_view text = text_of(value);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<int> worker_in(std::string_view key) {
  const std::size_t slash = key.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint64_t> number = number_in(bytes_of(key.substr(slash + 1)));
  if (!number || *number > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<int> ended_worker_in(std::string_view key) {
  if (!key.starts_with(kWorkerPrefix) || !key.ends_with(kEnd)) return std::nullopt;
  return worker_in(key.substr(0, key.size() - kEnd.size()));
}

Bytes encode(const WorkerEnd& end) {
  return to_bytes(std::string(end.has_left ? kLeft : kDead) + end.cause);
}

WorkerEnd decode_end(int worker, ByteView value) {
  const std::string_view text = text_of(value);
  const bool has_left = text.starts_with(kLeft);
  if (!has_left && !text.starts_with(kDead)) throw Error(ErrorCode::Protocol, "not an end");
  return {worker, std::string(text.substr(kLeft.size())), has_left};
}

void note(Presence& presence, std::string_view key, const Bytes* value) {
  if (key == kWantedKey) {
    presence.wanted.reset();
    const std::optional<std::uint64_t> wanted = value ? number_in(*value) : std::nullopt;
    if (wanted) presence.wanted = static_cast<int>(std::min<std::uint64_t>(*wanted, 1 << 20));
    return;
  }
  const std::optional<int> worker = worker_in(key);
  if (!key.starts_with(kWorkerPrefix) || !worker) return;
  presence.workers.erase(*worker);
  if (!value) return;
  try {
    Member member = decode_member(*value);
    if (member.rank == *worker) presence.workers.emplace(*worker, std::move(member));
  } catch (const Error&) {
    // A record of another version; its writer learns from the charter that it does not match.
  }
}

Presence presence_in(std::span<const StoreItem> items) {
  Presence presence;
  for (const StoreItem& item : items) note(presence, item.key, item.value.get());
  return presence;
}

std::string difference(const Member& one, const Member& other, const std::string& noun) {
  const auto differ = [&](const char* what, const std::string& a, const std::string& b) {
    if (a == b) return std::string();
    return noun + " " + std::to_string(one.rank) + " has " + what + " " + a + ", " + noun + " " +
           std::to_string(other.rank) + " has " + what + " " + b;
  };
  std::string text = differ("a job of size", std::to_string(one.size), std::to_string(other.size));
  if (text.empty()) text = differ("build", one.build, other.build);
  return text.empty() ? differ("job hash", one.job_hash, other.job_hash) : text;
}

Bytes encode(const Refusal& refusal) {
  ByteWriter out;
  out.put(kRefusalForm).put<std::int32_t>(refusal.worker);
  out.put(static_cast<std::uint8_t>(refusal.code)).put_text(refusal.text);
  return std::move(out).take();
}

std::optional<Refusal> refusal_in(ByteView value) {
  ByteReader in(value);
  if (in.remaining() == 0 || in.get<std::uint8_t>() != kRefusalForm) return std::nullopt;
  Refusal refusal;
  refusal.worker = in.get<std::int32_t>();
  refusal.code = static_cast<ErrorCode>(in.get<std::uint8_t>() % kErrorCodeCount);
  refusal.text = in.get_text();
  in.expect_end();
  return refusal;
}

}  // namespace trireme::cluster::membership
