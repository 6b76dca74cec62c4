#include "trireme/cluster/launch/job/name.h"

#include <array>

#include "trireme/base/entropy.h"
#include "trireme/cluster/launch/job/root.h"

namespace trireme::cluster::launch::job {
namespace {

constexpr std::array<std::string_view, 32> kFirst{
    "able",  "blue",  "bold",  "brisk", "calm",  "clear", "deft",  "eager",
    "early", "fair",  "fast",  "firm",  "fleet", "fresh", "glad",  "grand",
    "green", "keen",  "light", "lucky", "merry", "neat",  "noble", "quick",
    "quiet", "ready", "sharp", "still", "sunny", "swift", "true",  "warm"};
constexpr std::array<std::string_view, 32> kSecond{
    "anchor", "beacon", "bridge", "canal",  "cedar", "cliff",  "coast", "coral",
    "crane",  "delta",  "dune",   "falcon", "fjord", "galley", "gull",  "harbor",
    "heron",  "island", "keel",   "lagoon", "mast",  "oar",    "otter", "pearl",
    "pine",   "reef",   "river",  "rudder", "sail",  "star",   "tide",  "wave"};

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

std::string mistake_in_name(std::string_view name) {
  if (name.empty()) return "a job's name is empty";
  const std::string quoted = "job name '" + std::string(name) + "' ";
  if (name.size() > kNameSizeMax) return quoted + "is longer than 40 characters";
  if (!is_letter_or_digit(name.front())) return quoted + "does not begin with a letter or digit";
  for (const char c : name) {
    if (!is_letter_or_digit(c) && std::string_view("._-").find(c) == std::string_view::npos) {
      return quoted + "may only hold letters, digits, '.', '_' and '-'";
    }
  }
  return {};
}

std::string make_name(int attempt) {
  const Bytes random = secure_random(4);
  const auto word = [&](std::size_t i) { return static_cast<std::size_t>(random[i]); };
  std::string name(kFirst[word(0) % kFirst.size()]);
  name.append("-").append(kSecond[word(1) % kSecond.size()]);
  if (attempt >= 20) name += "-" + std::to_string(word(2) * 256 + word(3));
  return name;
}

}  // namespace trireme::cluster::launch::job
