#include "trireme/parallel/local/round/round_end.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "trireme/base/error.h"

namespace trireme::parallel::local {
namespace {

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Reads "1000=64": from step 1000 on, a round has 64 steps.
std::optional<std::pair<std::int64_t, std::int64_t>> read_change(std::string_view text) {
  const std::size_t at = text.find('=');
  if (at == std::string_view::npos) return std::nullopt;
  const auto step = number_in(text.substr(0, at));
  const auto steps = number_in(text.substr(at + 1));
  if (!step || !steps || *step < 0 || *steps < 1) return std::nullopt;
  return std::pair{*step, *steps};
}

}  // namespace

std::string complaint_of_schedule(const std::vector<std::string>& all) {
  std::int64_t last = -1;
  for (const std::string& text : all) {
    const auto change = read_change(text);
    if (!change) return "\"" + text + "\": expected \"step=steps of a round\", as in \"1000=64\"";
    if (change->first <= last) return "\"" + text + "\": steps must be in ascending order";
    last = change->first;
  }
  return {};
}

std::int64_t shortest_round(std::int64_t steps, const std::vector<std::string>& schedule) {
  std::optional<std::int64_t> shortest;
  for (const std::string& text : schedule) {
    const auto change = read_change(text);
    if (!change) continue;
    const bool is_from_start = change->first == 0;
    if (!shortest) shortest = is_from_start ? change->second : steps;
    shortest = std::min(*shortest, change->second);
  }
  return shortest.value_or(steps);
}

RoundEnd::RoundEnd(const RoundSettings& pace, const Clock& clock)
    : first_(pace.begin), limits_(pace.end), clock_(clock) {
  const std::string complaint = complaint_of_schedule(limits_.schedule);
  if (!complaint.empty()) throw Error(ErrorCode::InvalidInput, complaint);
  lengths_[0] = pace.steps;
  for (const std::string& text : limits_.schedule) {
    const auto [step, steps] = *read_change(text);
    lengths_[step] = steps;
  }
}

// The length of a round is fixed when it begins; a later entry of the schedule does not change it.
std::int64_t RoundEnd::length_from(std::int64_t step) const {
  return std::prev(lengths_.upper_bound(step))->second;
}

void RoundEnd::begin_step(std::int64_t step) {
  if (began_ < 0 || step == first_) since_ = clock_.now();
  if (began_ >= 0) return;
  began_ = first_;
  if (is_asked_for()) began_ = std::max(step, first_);
  while (step - began_ >= length_from(began_)) began_ += length_from(began_);
}

bool RoundEnd::is_wanted(double distance) const {
  const std::chrono::duration<double> taken = clock_.now() - since_;
  if (limits_.seconds > 0 && taken.count() >= limits_.seconds) return true;
  return limits_.divergence > 0 && distance >= limits_.divergence;
}

bool RoundEnd::is_last(std::int64_t step) const {
  return step >= first_ && step + 1 - began_ >= length_from(began_);
}

bool RoundEnd::is_turn(std::int64_t step, std::int64_t index, std::int64_t count) const {
  if (index + 1 == count) return is_last(step);
  const std::int64_t length = length_from(began_);
  const std::int64_t rest = (length % count * (index + 1) + count - 1) / count;
  return step >= first_ && step + 1 - began_ == length / count * (index + 1) + rest;
}

void RoundEnd::ended(std::int64_t step) {
  began_ = step + 1;
  since_ = clock_.now();
}

void RoundEnd::go_along(std::int64_t began) {
  began_ = began;
  since_ = clock_.now();
}

}  // namespace trireme::parallel::local
