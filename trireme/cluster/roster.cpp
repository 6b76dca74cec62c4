#include "trireme/cluster/roster.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "trireme/base/build_info.h"
#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/cluster/host_id.h"

namespace trireme::cluster {
namespace {

constexpr std::uint8_t kMemberForm = 0x34;

// Assigns a number to every string; equal strings have the same number.
class TextTable {
 public:
  std::uint32_t number_of(const std::string& text) {
    const auto [it, is_new] = numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return it->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> texts_;
};

void put_member(ByteWriter& out, TextTable& table, const Member& member) {
  out.put(static_cast<std::uint8_t>(member.role));
  out.put<std::int32_t>(member.rank).put<std::int32_t>(member.size);
  for (const std::string* text :
       {&member.host, &member.host_name, &member.build, &member.job_hash}) {
    out.put(table.number_of(*text));
  }
  out.put(member.pid).put(member.cores);
  member.life.write(out);
}

std::string get_text(ByteReader& in, const std::vector<std::string>& table) {
  const auto number = in.get<std::uint32_t>();
  if (number >= table.size()) throw Error(ErrorCode::Protocol, "member: no such text");
  return table[number];
}

Member get_member(ByteReader& in, const std::vector<std::string>& table) {
  Member member;
  const auto role = in.get<std::uint8_t>();
  if (role >= kRoleCount) throw Error(ErrorCode::Protocol, "member: no such role");
  member.role = static_cast<Role>(role);
  member.rank = in.get<std::int32_t>();
  member.size = in.get<std::int32_t>();
  const bool is_in_job = member.size == 0 || member.rank < member.size;
  if (member.rank < 0 || member.size < 0 || !is_in_job) {
    throw Error(ErrorCode::Protocol, "member: rank " + std::to_string(member.rank) +
                                         " of a job of " + std::to_string(member.size));
  }
  for (std::string* text : {&member.host, &member.host_name, &member.build, &member.job_hash}) {
    *text = get_text(in, table);
  }
  member.pid = in.get<std::int32_t>();
  member.cores = in.get<std::int32_t>();
  member.life = MemoryFile::Proof::read(in);
  return member;
}

void put_table(ByteWriter& out, const TextTable& table) {
  out.put(static_cast<std::uint32_t>(table.texts().size()));
  for (const std::string& text : table.texts()) out.put_text(text);
}

std::vector<std::string> get_table(ByteReader& in) {
  const auto count = in.get<std::uint32_t>();
  std::vector<std::string> table;
  table.reserve(std::min<std::size_t>(count, in.remaining() / sizeof(std::uint32_t)));
  for (std::uint32_t i = 0; i < count; ++i) table.push_back(in.get_text());
  return table;
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace

void write_members(ByteWriter& out, std::span<const Member* const> members) {
  TextTable table;
  ByteWriter body;
  for (const Member* member : members) put_member(body, table, *member);
  put_table(out, table);
  out.put(static_cast<std::uint32_t>(members.size()));
  out.append(body.bytes());
}

std::vector<Member> read_members(ByteReader& in) {
  const std::vector<std::string> table = get_table(in);
  const auto count = in.get<std::uint32_t>();
  std::vector<Member> members;
  members.reserve(std::min<std::size_t>(count, in.remaining() / sizeof(std::uint64_t)));
  for (std::uint32_t i = 0; i < count; ++i) members.push_back(get_member(in, table));
  return members;
}

std::string_view name_of(Role role) noexcept {
  return role == Role::Worker ? "worker" : "server";
}

Bytes encode(const Member& member) {
  ByteWriter out;
  out.put(kMemberForm);
  const Member* const one = &member;
  write_members(out, {&one, 1});
  return std::move(out).take();
}

Member decode_member(ByteView bytes) {
  ByteReader in(bytes);
  if (in.get<std::uint8_t>() != kMemberForm) {
    throw Error(ErrorCode::Protocol, "not a member of this version");
  }
  std::vector<Member> members = read_members(in);
  in.expect_end();
  if (members.size() != 1) throw Error(ErrorCode::Protocol, "not one member");
  return std::move(members.front());
}

Member describe_process(const Lookup& lookup) {
  Member self;
  self.host = host_id(lookup);
  self.host_name = host_name(lookup);
  self.build = base::build_info().build_id;
  self.pid = ::getpid();
  self.cores = usable_cores();
  return self;
}

Roster::Roster(std::uint64_t epoch, std::vector<Member> members)
    : epoch_(epoch), members_(std::move(members)), host_of_(members_.size()) {
  std::map<std::string, int> index_of;
  for (int rank = 0; rank < size(); ++rank) {
    const Member& member = members_[static_cast<std::size_t>(rank)];
    TRIREME_CHECK_EQ(member.rank, rank, "members are in the order of ranks");
    const auto [it, is_new] = index_of.try_emplace(member.host, static_cast<int>(hosts_.size()));
    if (is_new) hosts_.emplace_back();
    hosts_[static_cast<std::size_t>(it->second)].push_back(rank);
    host_of_[static_cast<std::size_t>(rank)] = it->second;
  }
}

const Member& Roster::member(int rank) const {
  TRIREME_CHECK(rank >= 0 && rank < size(), "rank ", rank, " is outside a job of ", size());
  return members_[static_cast<std::size_t>(rank)];
}

int Roster::host_of(int rank) const {
  TRIREME_CHECK(rank >= 0 && rank < size(), "rank ", rank, " is outside a job of ", size());
  return host_of_[static_cast<std::size_t>(rank)];
}

const std::vector<int>& Roster::ranks_beside(int rank) const {
  return hosts_[static_cast<std::size_t>(host_of(rank))];
}

}  // namespace trireme::cluster
