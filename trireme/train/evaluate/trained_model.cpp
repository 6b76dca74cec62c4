#include "trireme/train/evaluate/trained_model.h"

#include <cstdio>

#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/load_into.h"
#include "trireme/device/torch/torch_device.h"
#include "trireme/optim/kinds.h"
#include "trireme/parallel/kinds.h"
#include "trireme/train/averaged_weights.h"
#include "trireme/train/job.h"
#include "trireme/train/recipe/config.h"
#include "trireme/train/recipe/job_id.h"
#include "trireme/train/report/checkpoint_meta.h"

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
                  (steps.empty() ? ", nor any other"
                                 : "; it has those of steps " + steps +
                                       " (checkpoint.keep and keep_best decide which are kept)"));
}

void tell(const std::string& note) {
  std::fprintf(stderr, "trireme: %s\n", note.c_str());
}

checkpoint::Checkpoint newest_in(const fs::path& folder,
                                 const checkpoint::format::ReadOptions& reading) {
  const auto newest = checkpoint::Checkpoint::newest_whole(folder, reading, check_job_meta);
  for (const std::string& note : newest.notes()) tell(note);
  if (newest.checkpoint) return *newest.checkpoint;
  throw Error(ErrorCode::NotFound, folder.string() + " has no intact checkpoint");
}

// The newest checkpoint knows which one was the best when it was saved.
std::int64_t best_step_of(const checkpoint::Checkpoint& newest) {
  const Progress progress = progress_in(newest);
  if (progress.best_step >= 0) return progress.best_step;
  throw Error(ErrorCode::NotFound,
              newest.path().string() +
                  ": the job has no evaluations and therefore no best checkpoint; use --checkpoint "
                  "N, or train with test data and eval.every");
}

// A checkpoint that the user names is read completely or refused; no other one replaces it.
void expect_whole(const fs::path& path, const checkpoint::format::ReadOptions& reading) {
  const auto damage = checkpoint::format::damage_in(path, reading, check_job_meta);
  if (damage.empty()) return;
  throw Error(ErrorCode::Corrupt, path.string() + " is damaged: " + damage.front() +
                                      ". Name another step with --checkpoint N, or leave "
                                      "--checkpoint out to use the newest intact checkpoint");
}

checkpoint::Checkpoint checkpoint_of(const TrainedModelOptions& options,
                                     const checkpoint::format::ReadOptions& reading) {
  const fs::path folder = options.folder / "checkpoints";
  if (!options.step && !options.is_best) return newest_in(folder, reading);
  const std::int64_t step = options.step ? *options.step : best_step_of(newest_in(folder, reading));
  const fs::path path = folder / checkpoint::format::folder_name(step);
  if (!fs::exists(path)) refuse_step(step, folder);
  expect_whole(path, reading);
  return checkpoint::Checkpoint::open(path, reading);
}

// An edited config.toml has no effect, which the user may not expect.
void tell_of_edits(const config::Schema& schema, const config::ConfigText& file,
                   const checkpoint::Checkpoint& from, const Progress& saved) {
  auto edits = differences(saved.recipe, config::read_config(schema, {.files = {file}}));
  std::erase_if(edits, [](const SettingChange& one) {
    return !one.key.starts_with("model.") && !one.key.starts_with("data.") &&
           !one.key.starts_with("loss.");
  });
  if (edits.empty()) return;
  tell(file.name + " differs from what " + from.path().string() + " was trained with: " +
       to_text(edits) + ". The checkpoint's settings are used; override them with key=value");
}

void open_data(TrainedModel& trained, const std::string& meta, const Kinds& kinds, bool has_test) {
  if (auto known = preprocessing_in(meta)) {
    trained.data = std::move(*known);
    if (has_test) trained.test = kinds.data.open_test(trained.config, trained.data);
    return;
  }
  // The checkpoint was written by a version that did not save the preprocessing.
  data::Sets sets = kinds.data.open(trained.config);
  trained.data = std::move(sets.preprocessing);
  if (has_test) trained.test = std::move(sets.test);
}

}  // namespace

comm::Timeouts TrainedModel::timeouts() const {
  return {config.get<parallel::SyncConfig>(parallel::kSyncSection).timeout};
}

TrainedModel open_trained(const TrainedModelOptions& options, const Kinds& kinds) {
  const config::Schema schema = recipe_schema(kinds);
  if (!fs::exists(options.folder / "config.toml")) {
    throw Error(ErrorCode::NotFound, options.folder.string() +
                                         " is not the folder of a job: it has no config.toml; "
                                         "name the folder that train printed, such as runs/first");
  }
  const config::ConfigText file = config::load_config(options.folder / "config.toml");
  // Only where the key is comes from config.toml, which is not signed. All other settings are those
  // of the checkpoint.
  const auto reading =
      sealing_of(config::read_config(schema, {.files = {file}, .overrides = options.overrides}))
          .reading();
  const checkpoint::Checkpoint from = checkpoint_of(options, reading);
  expect_checkpoint_of(authenticated_job_id(options.folder, reading), options.folder, from);
  if (const std::string note = from.note_if_unsigned(); !note.empty()) tell(note);
  const Progress saved = progress_in(from);
  tell_of_edits(schema, file, from, saved);
  TrainedModel trained{
      .folder = options.folder,
      .config = config::read_config(schema, {.files = {{from.path().string(), saved.recipe}},
                                             .overrides = options.overrides}),
      .step = from.step()};
  open_data(trained, from.meta(), kinds, options.has_test);
  trained.model = make_model(trained.config, kinds, trained.data.form);
  try {
    checkpoint::load_into(*trained.model, checkpoint::open_tensors(from),
                          {.is_rest_ignored = true});
    // The override average.kind=none selects the weights instead of their averages.
    if (optim::has_average(trained.config)) read_average(*trained.model, from);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Mismatch) throw;
    throw Error(
        ErrorCode::InvalidInput,
        error.message() + "Use the settings of [model] and [data] with which it was trained");
  }
  const Device device = choose_device(trained.config.get<TrainConfig>("train").device, 0);
  trained.model->to(TorchDevice(device).torch());
  return trained;
}

std::vector<std::int64_t> last_steps(const fs::path& job, std::int64_t count) {
  const auto all = checkpoint::format::list_checkpoints(job / "checkpoints");
  if (std::ssize(all) < count) {
    throw Error(ErrorCode::NotFound, (job / "checkpoints").string() + " has " +
                                         std::to_string(all.size()) + " checkpoints, but " +
                                         std::to_string(count) +
                                         " are required; train with a larger checkpoint.keep");
  }
  std::vector<std::int64_t> steps;
  for (auto listed = all.rbegin(); std::ssize(steps) < count; ++listed) {
    steps.push_back(listed->step);
  }
  return steps;
}

}  // namespace trireme::train
