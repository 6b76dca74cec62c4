#include "trireme/checkpoint/format/shelf.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/checkpoint/format/manifest_text.h"
#include "trireme/checkpoint/format/verify.h"

namespace trireme::checkpoint::format {
namespace fs = std::filesystem;
namespace {

// The readable checkpoints of the folder. Damaged checkpoints, those of another version and those
// that are not signed with the key are neither counted nor removed; the user decides about them.
std::vector<Scored> scores_in(const Shelf::Options& options) {
  std::vector<Scored> scores;
  for (const Listed& listed : list_checkpoints(options.folder)) {
    try {
      const fs::path path = listed.path / kManifestName;
      const Manifest manifest = parse_manifest(read_file(path), path.string(), options.reading);
      const bool is_alike = !options.is_score_alike || options.is_score_alike(manifest.meta);
      scores.push_back(
          {.step = listed.step, .score = is_alike ? manifest.score : std::optional<double>()});
    } catch (const Error& error) {
      if (!is_damage(error) && error.code() != ErrorCode::Unsupported &&
          error.code() != ErrorCode::InvalidInput) {
        throw;
      }
    }
  }
  return scores;
}

}  // namespace

std::vector<std::int64_t> steps_to_remove(std::vector<Scored> held, const Retention& retention) {
  if (retention.keep_last <= 0) return {};
  std::ranges::sort(held, {}, &Scored::step);
  std::set<std::int64_t> kept;
  const auto last = static_cast<std::size_t>(retention.keep_last);
  for (std::size_t i = held.size() - std::min(held.size(), last); i < held.size(); ++i) {
    kept.insert(held[i].step);
  }
  std::vector<Scored> scored;
  std::ranges::copy_if(held, std::back_inserter(scored), [](const Scored& one) {
    return one.score.has_value() && !std::isnan(*one.score);
  });
  std::ranges::stable_sort(scored, [&](const Scored& a, const Scored& b) {
    return retention.is_higher_better ? *a.score > *b.score : *a.score < *b.score;
  });
  const auto best = static_cast<std::size_t>(std::max(retention.keep_best, 0));
  for (std::size_t i = 0; i < std::min(best, scored.size()); ++i) kept.insert(scored[i].step);
  std::vector<std::int64_t> gone;
  for (const Scored& one : held) {
    if (!kept.contains(one.step)) gone.push_back(one.step);
  }
  return gone;
}

Shelf::Shelf(Options options)
    : options_(std::move(options)),
      lock_(options_.folder, options_.writer),
      held_(scores_in(options_)) {}

void Shelf::put(const fs::path& draft, const Manifest& manifest) {
  const fs::path target = options_.folder / folder_name(manifest.step);
  if (!is_held(manifest.step) && fs::exists(target)) format::set_aside(lock_, manifest.step);
  publish(lock_, draft, manifest,
          {.key = options_.key, .faults = options_.faults, .rank = options_.rank});
  forget(manifest.step);
  held_.push_back({.step = manifest.step, .score = manifest.score});
  retire();
}

void Shelf::remove_after(std::int64_t step) {
  for (const Listed& listed : list_checkpoints(options_.folder)) {
    if (listed.step > step && is_held(listed.step)) remove_checkpoint(lock_, listed.step);
  }
  std::erase_if(held_, [&](const Scored& one) { return one.step > step; });
}

void Shelf::set_aside(std::int64_t step) {
  format::set_aside(lock_, step);
  forget(step);
}

bool Shelf::is_held(std::int64_t step) const {
  return std::ranges::find(held_, step, &Scored::step) != held_.end();
}

void Shelf::forget(std::int64_t step) {
  std::erase_if(held_, [&](const Scored& one) { return one.step == step; });
}

void Shelf::retire() {
  for (const std::int64_t step : steps_to_remove(held_, options_.retention)) {
    remove_checkpoint(lock_, step, options_.faults, options_.rank);
    forget(step);
  }
}

}  // namespace trireme::checkpoint::format
