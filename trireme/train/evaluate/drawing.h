// `trireme generate` for a model that generates images. It writes samples.png to the job's folder,
// with a row per class (samples.json names the rows), or IDX files on which other jobs can train.
//
//   --count N       images per class; 8 by default
//   --only A,B      only these classes, by name or number
//   --to DIR        writes IDX files there, as data.extra reads them, instead of samples.png
//   --seed S
//
// Errors:        InvalidInput for an unknown class, for samples that are not images, and with --to
//                for images whose scale cannot be restored; what writing throws.
// Thread safety: one thread.

#pragma once

#include "trireme/train/evaluate/class_sampler.h"
#include "trireme/train/recipe/worker_words.h"

namespace trireme::train {

int answer_draw(const WorkerWords& words, const TrainedModel& trained, ClassSampler& sampler);

}  // namespace trireme::train
