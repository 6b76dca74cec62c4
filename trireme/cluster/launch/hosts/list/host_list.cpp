#include "trireme/cluster/launch/hosts/list/host_list.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"

namespace trireme::cluster::launch::hosts {
namespace {

constexpr std::size_t kNameMax = 255;

[[noreturn]] void refuse(std::string_view word, std::string_view why) {
  throw Error(ErrorCode::InvalidInput, "'" + std::string(word) +
                                           "' is no host: " + std::string(why) +
                                           "; write node1:4, user@node1:4 or [fd00::7]:4");
}

// ssh would treat a name that begins with a dash as an option.
bool is_name(std::string_view name) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-@:%").find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= kNameMax && name.front() != '-' &&
         std::ranges::all_of(name, is_good);
}

int count_of(std::string_view word, std::string_view digits) {
  int count = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, count);
  if (error != std::errc{} || stop != end || count < 1 || count > kRanksMax) {
    refuse(word, "the number of ranks is 1 to " + std::to_string(kRanksMax));
  }
  return count;
}

HostRanks parse_host(std::string_view word) {
  std::string_view name = word;
  std::string_view digits;
  const std::size_t bracket = word.find('[');
  if (bracket != std::string_view::npos) {
    const std::size_t close = word.find(']');
    if (close == std::string_view::npos) refuse(word, "the '[' is not closed");
    const std::string_view rest = word.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') refuse(word, "a ':' follows the ']'");
    if (!rest.empty()) digits = rest.substr(1);
    if (!rest.empty() && digits.empty()) refuse(word, "there is no number after the ':'");
    HostRanks host{.name = std::string(word.substr(0, bracket)), .ranks = 1};
    host.name += word.substr(bracket + 1, close - bracket - 1);
    if (!is_name(host.name)) refuse(word, "the name is empty or has characters that no host has");
    if (!digits.empty()) host.ranks = count_of(word, digits);
    return host;
  }
  const std::size_t colon = word.find(':');
  if (colon != std::string_view::npos) {
    name = word.substr(0, colon);
    digits = word.substr(colon + 1);
    if (digits.find(':') != std::string_view::npos) {
      refuse(word, "an IPv6 address is written in brackets");
    }
    if (digits.empty()) refuse(word, "there is no number after the ':'");
  }
  if (!is_name(name)) refuse(word, "the name is empty or has characters that no host has");
  return {.name = std::string(name), .ranks = digits.empty() ? 1 : count_of(word, digits)};
}

std::vector<HostRanks> checked(std::vector<HostRanks> hosts) {
  int ranks = 0;
  for (const HostRanks& host : hosts) ranks += host.ranks;
  if (ranks <= kRanksMax) return hosts;
  throw Error(ErrorCode::InvalidInput, "the hosts have " + std::to_string(ranks) +
                                           " ranks together; the most is " +
                                           std::to_string(kRanksMax));
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBlanks = " \t\r";
  line = line.substr(0, line.find('#'));
  while (true) {
    const std::size_t begin = line.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

HostRanks parse_line(const std::vector<std::string_view>& words) {
  constexpr std::string_view kSlots = "slots=";
  HostRanks host = parse_host(words.front());
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].starts_with(kSlots)) {
      host.ranks = count_of(words[i], words[i].substr(kSlots.size()));
    } else if (!words[i].starts_with("max_slots=") && !words[i].starts_with("max-slots=")) {
      refuse(words[i], "after the host only slots=N can follow");
    }
  }
  return host;
}

}  // namespace

std::vector<HostRanks> parse_hosts(std::string_view text) {
  std::vector<HostRanks> hosts;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    hosts.push_back(parse_host(text.substr(0, comma)));
    if (comma == text.size()) return checked(std::move(hosts));
    text.remove_prefix(comma + 1);
  }
}

std::vector<HostRanks> read_hostfile(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  std::vector<HostRanks> hosts;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const auto words = words_of(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (words.empty()) continue;
    try {
      hosts.push_back(parse_line(words));
    } catch (const Error& error) {
      throw Error(ErrorCode::InvalidInput,
                  path.string() + ":" + std::to_string(number) + ": " + error.message());
    }
  }
  if (hosts.empty()) throw Error(ErrorCode::InvalidInput, path.string() + " names no host");
  return checked(std::move(hosts));
}

std::string_view bare_name(std::string_view name) {
  const std::size_t at = name.rfind('@');
  return at == std::string_view::npos ? name : name.substr(at + 1);
}

bool is_this_host(std::string_view name) {
  if (name == "localhost") return true;
  std::array<char, 256> buffer{};
  if (::gethostname(buffer.data(), buffer.size() - 1) != 0) return false;
  const std::string_view own(buffer.data());
  return name == own || name == own.substr(0, own.find('.'));
}

}  // namespace trireme::cluster::launch::hosts
