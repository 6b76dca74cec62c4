// Inference with a trained job in a program of your own: it opens the newest checkpoint of the
// job's folder and predicts the class of each row of a table. The checkpoint has everything that is
// needed: the recipe, the weights, the names of classes, and the means of the columns.
//
//   build/trireme train examples/14_inference.toml --output runs/boxes
//   build/examples/14_inference runs/boxes examples/14_new_boxes.csv
//
// `trireme predict runs/boxes examples/14_new_boxes.csv` is the same without a program.

#include <torch/torch.h>

#include <cstdio>
#include <exception>
#include <string>

#include "trireme/data/loader.h"
#include "trireme/train/evaluate/trained_model.h"
#include "trireme/train/recipe/recipe.h"

namespace {

using namespace trireme;

void predict(const std::string& job, const std::string& file) {
  const train::Kinds kinds = train::built_in_kinds();  // a job of your own worker needs its kinds
  const train::TrainedModel trained = train::open_trained({.folder = job}, kinds);

  // Rows are read, and their columns standardized, as in training.
  const data::Inputs rows = kinds.data.open_inputs(trained.config, trained.data, file);
  data::Loader loader({.source = rows.source, .batch = rows.source->count(), .is_shuffled = false});
  const data::Batch batch = loader.next().batches.front();

  const torch::NoGradGuard no_grad;
  const torch::Tensor logits = trained.model->forward(batch.input, {.is_training = false});
  const auto [probability, label] = logits.softmax(1).max(1);
  for (std::int64_t i = 0; i < batch.count(); ++i) {
    const std::string& name = trained.data.form.class_names[label[i].item<std::int64_t>()];
    std::printf("line %s: %s (%.2f)\n", rows.names[i].c_str(), name.c_str(),
                probability[i].item<double>());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s JOB FILE.csv\n", argv[0]);
    return 2;
  }
  try {
    predict(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
