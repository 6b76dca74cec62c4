#include "trireme/base/injected_fault.h"

#include <algorithm>
#include <charconv>

#include "trireme/base/config/read_value.h"
#include "trireme/base/error.h"

namespace trireme {
namespace {

constexpr int kNumberMax = 1'000'000'000;
constexpr const char* kHelp =
    "; such as \"kill rank=2 step=20; stop rank=1 step=30 for=2s; hang rank=1 step=35; slow rank=0 "
    "factor=3; "
    "doubt rank=0 whom=3 step=40\", with "
    "at=forward, backward, reduce, collective, prepared, update, checkpoint or recovery";

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::InvalidInput, "--chaos: " + what + kHelp);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    if (const auto part = trimmed(text.substr(0, end)); !part.empty()) parts.push_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class T>
T number_in(std::string_view key, std::string_view text) {
  T number{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || !(number >= 0) ||
      number > T(kNumberMax)) {
    refuse(std::string(key) + "=" + std::string(text) + " is no number");
  }
  return number;
}

void set(InjectedFault& fault, std::string_view key, std::string_view value) {
  if (key == "rank") {
    fault.worker = number_in<int>(key, value);
  } else if (key == "step") {
    fault.step = number_in<std::int64_t>(key, value);
  } else if (key == "whom") {
    fault.whom = number_in<int>(key, value);
  } else if (key == "factor") {
    fault.factor = number_in<double>(key, value);
  } else if (key == "for") {
    try {
      fault.length = config::read_duration({std::string(value)});
    } catch (const Error& error) {
      refuse("for=" + std::string(value) + ": " + error.message());
    }
  } else if (key == "at") {
    if (std::ranges::find(kMoments, value) == kMoments.end()) {
      refuse("no moment is called " + std::string(value));
    }
    fault.moment = value;
  } else {
    refuse("no setting is called " + std::string(key));
  }
}

InjectedFault parse_one(std::string_view text) {
  const std::vector<std::string_view> words = split(text, ' ');
  InjectedFault fault;
  if (words[0] == "kill") {
    fault.kind = InjectedFault::Kind::Kill;
  } else if (words[0] == "stop") {
    fault.kind = InjectedFault::Kind::Stop;
  } else if (words[0] == "hang") {
    fault.kind = InjectedFault::Kind::Hang;
  } else if (words[0] == "slow") {
    fault.kind = InjectedFault::Kind::Slow;
  } else if (words[0] == "doubt") {
    fault.kind = InjectedFault::Kind::Doubt;
  } else {
    refuse("nothing is called " + std::string(words[0]));
  }
  bool has_rank = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string_view::npos) refuse(std::string(words[i]) + " has no value");
    set(fault, words[i].substr(0, equals), words[i].substr(equals + 1));
    has_rank |= words[i].starts_with("rank=");
  }
  if (!has_rank) refuse("\"" + std::string(text) + "\" names no rank");
  const bool is_doubt = fault.kind == InjectedFault::Kind::Doubt;
  if (is_doubt && (fault.whom < 0 || fault.whom == fault.worker)) {
    refuse("\"" + std::string(text) + "\" needs whom=, the number of another worker");
  }
  return fault;
}

}  // namespace

std::vector<InjectedFault> parse_chaos(std::string_view text) {
  std::vector<InjectedFault> all;
  for (const std::string_view one : split(text, ';')) all.push_back(parse_one(one));
  return all;
}

}  // namespace trireme
