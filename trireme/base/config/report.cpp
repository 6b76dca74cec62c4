#include "trireme/base/config/report.h"

#include <algorithm>
#include <tuple>

#include "trireme/base/error.h"

namespace trireme::config {

std::string ConfigLocation::to_text() const {
  return line > 0 ? name + ":" + std::to_string(line) : name;
}

void Report::add(Mistake mistake) {
  ++count_;
  if (!is_full()) mistakes_.push_back(std::move(mistake));
}

std::string Report::to_text() const {
  std::vector<const Mistake*> sorted;
  sorted.reserve(mistakes_.size());
  for (const Mistake& mistake : mistakes_) sorted.push_back(&mistake);
  // For mistakes at the same place, comparing addresses keeps the order in which they were found.
  std::sort(sorted.begin(), sorted.end(), [](const Mistake* a, const Mistake* b) {
    return std::tie(a->place.source, a->place.line, a) <
           std::tie(b->place.source, b->place.line, b);
  });
  std::string text = count_ == 1 ? "1 mistake" : std::to_string(count_) + " mistakes";
  text += " in the configuration:";
  for (const Mistake* mistake : sorted) {
    text += "\n  " + mistake->place.to_text() + ": ";
    if (!mistake->key.empty()) text += mistake->key + ": ";
    text += mistake->what;
  }
  if (count_ > sorted.size()) {
    text += "\n  and " + std::to_string(count_ - sorted.size()) + " more";
  }
  return text;
}

void Report::throw_if_any() const {
  if (!is_empty()) throw Error(ErrorCode::InvalidInput, to_text());
}

}  // namespace trireme::config
