#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <filesystem>

#include "trireme/base/error.h"
#include "trireme/data/data_config.h"
#include "trireme/model/kind/gan.h"
#include "trireme/train/evaluate/answers.h"
#include "trireme/train/evaluate/prediction.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

void refuse_unpredictable(const TrainedModel& trained) {
  const bool is_gan = std::dynamic_pointer_cast<model::Gan>(trained.model) != nullptr;
  const auto& reading = trained.config.get<data::DataConfig>("data");
  if (!is_gan && reading.target == data::Target::Labels) return;
  throw Error(
      ErrorCode::InvalidInput,
      "predict requires a model of classes or numbers; use `trireme generate` with a gan or "
      "an autoencoder");
}

// Checks the output file first, because a prediction may take hours and would be lost.
void require_writable(const fs::path& file) {
  if (file.empty()) return;
  const fs::path folder = fs::absolute(file).parent_path();
  const std::string what = "-o " + file.string() + ": ";
  if (!fs::is_directory(folder)) {
    throw Error(ErrorCode::NotFound, what + "the folder " + folder.string() +
                                         " does not exist. Create it, or name another file");
  }
  if (fs::is_directory(file)) {
    throw Error(ErrorCode::InvalidInput, what + "this is a folder. Name a file in it");
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw Error(ErrorCode::InvalidInput, what + "you may not write to the folder " +
                                             folder.string() + ". Name another file");
  }
}

}  // namespace

int answer_predict(const WorkerWords& words, const Kinds& kinds) {
  const fs::path input = words.text("--input");
  PredictionWriter writer({.format = prediction_format(words.text("--format", "csv")),
                           .file = words.text("--file", "")});
  if (!fs::exists(input)) {
    throw Error(ErrorCode::NotFound, input.string() + " does not exist");
  }
  require_writable(words.text("--file", ""));
  const TrainedModel trained = open_trained(wanted_model(words), kinds);
  refuse_unpredictable(trained);
  if (trained.data.form.is_text()) {
    if (fs::is_directory(input)) {
      throw Error(ErrorCode::InvalidInput,
                  input.string() + " is a folder, but this model reads texts; use a text file");
    }
    predict_lines(trained, input, writer);
  } else {
    predict(trained, kinds.data.open_inputs(trained.config, trained.data, input), writer);
  }
  writer.finish();
  if (writer.empty_rows() > 0) {
    std::fprintf(stderr,
                 "trireme: %" PRId64 " of %" PRId64
                 " samples have no prediction; their rows are empty\n",
                 writer.empty_rows(), writer.rows() + writer.empty_rows());
  }
  if (words.has("--file")) {
    std::printf("%s: %" PRId64 " predictions of step %" PRId64 "\n", words.text("--file").c_str(),
                writer.rows(), trained.step);
  }
  return 0;
}

}  // namespace trireme::train
