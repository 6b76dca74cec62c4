#include "trireme/train/trained_model.h"

#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/load_into.h"
#include "trireme/optim/kinds.h"
#include "trireme/train/averaged_weights.h"
#include "trireme/train/config.h"
#include "trireme/train/job.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_step(std::int64_t step, const fs::path& folder) {
  std::string steps;
  for (const auto& listed : checkpoint::format::list_checkpoints(folder)) {
    steps += (steps.empty() ? "" : ", ") + std::to_string(listed.step);
  }
  throw Error(ErrorCode::NotFound,
              folder.string() + " has no checkpoint of step " + std::to_string(step) +
                  (steps.empty() ? ", nor any other" : "; there are those of " + steps));
}

checkpoint::Checkpoint checkpoint_of(const TrainedModelOptions& options,
                                     const std::optional<net::Secret>& key) {
  const fs::path folder = options.folder / "checkpoints";
  if (options.step) {
    const fs::path path = folder / checkpoint::format::folder_name(*options.step);
    if (!fs::exists(path)) refuse_step(*options.step, folder);
    return checkpoint::Checkpoint::open(path, key);
  }
  auto newest = checkpoint::Checkpoint::newest_whole(folder, key);
  if (!newest.checkpoint) {
    throw Error(ErrorCode::NotFound, folder.string() + " holds no whole checkpoint");
  }
  return *newest.checkpoint;
}

}  // namespace

TrainedModel open_trained(const TrainedModelOptions& options, const Kinds& kinds) {
  TrainedModel trained{
      .folder = options.folder,
      .config = config::read_config(recipe_schema(kinds),
                                    {.files = {config::load_config(options.folder / "config.toml")},
                                     .overrides = options.overrides})};
  trained.sets = kinds.data.open(trained.config);
  trained.model = make_model(trained.config, kinds, trained.sets.train->form());
  const checkpoint::Checkpoint from =
      checkpoint_of(options, trained.config.get<CheckpointConfig>("checkpoint").sealing().key);
  trained.step = from.step();
  try {
    checkpoint::load_into(*trained.model, checkpoint::open_tensors(from),
                          {.is_rest_ignored = true});
    // With average.kind=none among the words, the weights as they were trained.
    if (optim::has_average(trained.config)) read_average(*trained.model, from);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Mismatch) throw;
    throw Error(
        ErrorCode::InvalidInput,
        error.message() + "Give the settings of [model] and [data] that it was trained with");
  }
  return trained;
}

std::vector<std::int64_t> last_steps(const fs::path& job, std::int64_t count) {
  const auto all = checkpoint::format::list_checkpoints(job / "checkpoints");
  if (std::ssize(all) < count) {
    throw Error(ErrorCode::NotFound, (job / "checkpoints").string() + " holds " +
                                         std::to_string(all.size()) + " checkpoints, and " +
                                         std::to_string(count) +
                                         " are wanted: train with a larger checkpoint.keep");
  }
  std::vector<std::int64_t> steps;
  for (auto listed = all.rbegin(); std::ssize(steps) < count; ++listed) {
    steps.push_back(listed->step);
  }
  return steps;
}

}  // namespace trireme::train
