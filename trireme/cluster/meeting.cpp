#include "trireme/cluster/meeting.h"

#include <cstdio>
#include <utility>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/cluster/rank_names.h"

namespace trireme::cluster {
namespace {

constexpr std::uint8_t kTable = 1;
constexpr std::uint8_t kRefusal = 2;

std::string member_name(int rank) {
  char text[32];
  std::snprintf(text, sizeof(text), "member/%07d", rank);
  return text;
}

std::string describe(const Member& member) {
  return "pid " + std::to_string(member.pid) + " on " + member.host_name;
}

Bytes table_outcome(const Roster& roster) {
  ByteWriter out;
  out.put(kTable).append(encode(roster));
  return std::move(out).take();
}

Bytes refusal_outcome(int rank, ErrorCode code, std::string_view text) {
  ByteWriter out;
  out.put(kRefusal).put<std::int32_t>(rank).put(static_cast<std::uint8_t>(code)).put_text(text);
  return std::move(out).take();
}

}  // namespace

Meeting::Meeting(std::uint64_t epoch, Member self)
    : prefix_("meet/" + std::to_string(epoch) + "/"),
      epoch_(epoch),
      self_(std::move(self)),
      record_(encode(self_)) {
  TRIREME_CHECK(self_.rank >= 0 && self_.rank < self_.size, "rank ", self_.rank, " of a job of ",
                self_.size);
  ask_swap(Step::Charter, "charter", record_, Lifetime::Session);
}

void Meeting::ask(Step step, StoreVerb verb, const std::string& name) {
  step_ = step;
  request_ = {};
  request_.verb = verb;
  request_.key = prefix_ + name;
}

void Meeting::ask_swap(Step step, const std::string& name, ByteView value, Lifetime lifetime) {
  ask(step, StoreVerb::Swap, name);
  request_.value = share(value);
  request_.lifetime = lifetime;
}

void Meeting::on_reply(const StoreReply& reply) {
  TRIREME_CHECK(!is_over(), "a reply to a meeting that is over");
  if (reply.error) {
    error_ = Error(*reply.error, reply.error_text);
    return;
  }
  switch (step_) {
    case Step::Charter:
      if (!reply.flag) {
        const std::string text = difference(decode_member(*reply.value));
        if (!text.empty()) return refuse(ErrorCode::Mismatch, text);
      }
      return ask_swap(Step::Claim, member_name(self_.rank), record_, Lifetime::Session);
    case Step::Claim:
      if (!reply.flag) {
        return refuse(ErrorCode::Mismatch, "rank " + std::to_string(self_.rank) + " came twice: " +
                                               describe(decode_member(*reply.value)) + " and " +
                                               describe(self_));
      }
      ask(Step::Count, StoreVerb::Add, "count");
      request_.delta = 1;
      return;
    case Step::Count:
      if (reply.number < self_.size) return ask(Step::Await, StoreVerb::Wait, "outcome");
      return ask(Step::Collect, StoreVerb::List, "");
    case Step::Collect:
      return collect(reply);
    case Step::Publish:
    case Step::Await:
      if (!reply.value) throw Error(ErrorCode::Protocol, "the store lost the outcome of a meeting");
      return take_outcome(*reply.value);
  }
}

std::string Meeting::difference(const Member& other) const {
  const auto differ = [&](const char* what, const std::string& mine, const std::string& theirs) {
    const std::string text = "rank " + std::to_string(other.rank) + " has " + what + " " + theirs +
                             ", rank " + std::to_string(self_.rank) + " has " + what + " " + mine;
    return mine == theirs ? std::string() : text;
  };
  std::string text =
      differ("a job of size", std::to_string(self_.size), std::to_string(other.size));
  if (text.empty()) text = differ("build", self_.build, other.build);
  if (text.empty()) text = differ("job hash", self_.job_hash, other.job_hash);
  return text;
}

void Meeting::collect(const StoreReply& reply) {
  std::vector<std::optional<Member>> came(static_cast<std::size_t>(self_.size));
  for (const StoreItem& item : reply.items) {
    if (!item.value) continue;
    if (item.key == prefix_ + "outcome") return take_outcome(*item.value);
    if (!item.key.starts_with(prefix_ + "member/")) continue;
    Member member = decode_member(*item.value);
    const std::string text = difference(member);
    if (!text.empty()) return refuse(ErrorCode::Mismatch, text);
    came[static_cast<std::size_t>(member.rank)] = std::move(member);
  }
  std::vector<int> missing;
  std::vector<Member> members;
  for (int rank = 0; rank < self_.size; ++rank) {
    std::optional<Member>& member = came[static_cast<std::size_t>(rank)];
    if (member) {
      members.push_back(*std::move(member));
    } else {
      missing.push_back(rank);
    }
  }
  if (missing.empty()) {
    return ask_swap(Step::Publish, "outcome", table_outcome(Roster(epoch_, std::move(members))),
                    Lifetime::Job);
  }
  // A rank was counted and is gone again; the rank that replaces it will complete the count.
  if (!is_late_) return ask(Step::Await, StoreVerb::Wait, "outcome");
  refuse(ErrorCode::Deadline, name_ranks(missing) + " of " + std::to_string(self_.size) +
                                  " did not come within " + name_seconds(waited_));
}

void Meeting::refuse(ErrorCode code, const std::string& text) {
  refusal_ = Error(code, text);
  ask_swap(Step::Publish, "outcome", refusal_outcome(self_.rank, code, text), Lifetime::Job);
}

void Meeting::take_outcome(ByteView outcome) {
  ByteReader in(outcome);
  const auto kind = in.get<std::uint8_t>();
  // A rank that does not match is refused even if the others have met without it.
  if (refusal_ && refusal_->code() == ErrorCode::Mismatch) {
    error_ = refusal_;
    return;
  }
  if (kind == kRefusal) {
    const auto rank = in.get<std::int32_t>();
    const auto code = static_cast<ErrorCode>(in.get<std::uint8_t>() % kErrorCodeCount);
    std::string text = in.get_text();
    if (code == ErrorCode::Deadline && rank != self_.rank) {
      text = "rank " + std::to_string(rank) + " gave up: " + text;
    }
    error_ = Error(code, text);
    return;
  }
  Roster roster = decode_roster(in.take(in.remaining()));
  if (roster.size() != self_.size || encode(roster.member(self_.rank)) != record_) {
    error_ =
        Error(ErrorCode::Mismatch,
              "the store holds the meeting of another run (its rank " + std::to_string(self_.rank) +
                  " is not this process): every run needs a store, a folder or an epoch of "
                  "its own");
    return;
  }
  roster_ = std::move(roster);
}

void Meeting::on_deadline(Duration waited) {
  TRIREME_CHECK(!is_over(), "a deadline after the meeting");
  if (is_late_) {
    error_ = refusal_ ? *refusal_
                      : Error(ErrorCode::Deadline,
                              "the store did not answer within " + name_seconds(waited));
    return;
  }
  is_late_ = true;
  waited_ = waited;
  if (step_ != Step::Publish) ask(Step::Collect, StoreVerb::List, "");
}

const Roster& Meeting::roster() const {
  TRIREME_CHECK(is_over(), "the meeting is not over");
  if (error_) throw error_->with_rank(self_.rank).with_operation("rendezvous");
  return *roster_;
}

}  // namespace trireme::cluster
