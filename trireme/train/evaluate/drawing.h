// What `trireme generate` does with a model that makes pictures: a row for each class into
// samples.png in the job's folder (and what the rows are, samples.json), or as IDX files that other
// jobs train on.
//
//   --count N       of each class: 8 by default
//   --only A,B      these classes alone, by name or number
//   --to DIR        IDX files there, as data.extra reads them, and no samples.png
//   --seed S
//
// Threads: one.
// Failure: InvalidInput for a class that there is not, samples that are no pictures, and with --to
//          for those whose scale cannot be undone; what writing throws.

#pragma once

#include "trireme/train/evaluate/class_sampler.h"
#include "trireme/train/recipe/worker_words.h"

namespace trireme::train {

int answer_draw(const WorkerWords& words, const TrainedModel& trained, ClassSampler& sampler);

}  // namespace trireme::train
