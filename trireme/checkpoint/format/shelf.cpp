#include "trireme/checkpoint/format/shelf.h"

#include <algorithm>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/file.h"
#include "trireme/checkpoint/format/verify.h"

namespace trireme::checkpoint::format {
namespace fs = std::filesystem;
namespace {

// What lies in the folder and can be read. Damaged ones, and those of a later version, are left to
// people: they are neither counted nor removed.
std::vector<Scored> scores_in(const Shelf::Options& options) {
  std::vector<Scored> scores;
  for (const Listed& listed : list_checkpoints(options.folder)) {
    try {
      const fs::path path = listed.path / kManifestName;
      const Manifest manifest = parse_manifest(read_file(path), path.string());
      const bool is_alike = !options.is_score_alike || options.is_score_alike(manifest.meta);
      scores.push_back(
          {.step = listed.step, .score = is_alike ? manifest.score : std::optional<double>()});
    } catch (const Error& error) {
      if (!is_damage(error) && error.code() != ErrorCode::Unsupported) throw;
    }
  }
  return scores;
}

}  // namespace

Shelf::Shelf(Options options)
    : options_(std::move(options)), lock_(options_.folder), held_(scores_in(options_)) {}

void Shelf::put(const fs::path& draft, const Manifest& manifest) {
  const fs::path target = options_.folder / folder_name(manifest.step);
  if (!is_held(manifest.step) && fs::exists(target)) format::set_aside(target);
  publish(draft, manifest, options_.faults, options_.rank);
  forget(manifest.step);
  held_.push_back({.step = manifest.step, .score = manifest.score});
  retire();
}

void Shelf::remove_after(std::int64_t step) {
  for (const Listed& listed : list_checkpoints(options_.folder)) {
    if (listed.step > step && is_held(listed.step)) remove_checkpoint(listed.path);
  }
  std::erase_if(held_, [&](const Scored& one) { return one.step > step; });
}

void Shelf::set_aside(std::int64_t step) {
  format::set_aside(options_.folder / folder_name(step));
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
    const fs::path path = options_.folder / folder_name(step);
    if (fs::exists(path)) remove_checkpoint(path, options_.faults, options_.rank);
    forget(step);
  }
}

}  // namespace trireme::checkpoint::format
