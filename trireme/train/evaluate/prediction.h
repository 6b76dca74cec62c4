// Writes the predictions of a trained model for samples without targets.
//
// Columns:       first `line` or `file`, which identifies the sample. For classes `predicted`,
//                `probability` and, if there are at most kClassColumnsMax classes, `p_NAME` for
//                each class. For numbers `predicted`, in the units of the training data. With
//                several targets, `predicted_TARGET` for each and `probability_TARGET` for classes.
// Texts:         for each line the most likely next token and its probability. `loss` is the mean
//                of -log p over the tokens of the line except the first, and is empty if there is
//                only one. A line longer than the model's context is read in windows that overlap
//                by half, and the next token follows from the last window.
// Order:         that of the input. A sample that is left out (a missing value with data.missing =
//                "drop", a damaged file with data.bad_samples = "skip") has a row without
//                prediction.
// Errors:        what reading the samples throws, with the file and the line.
// Thread safety: one thread.

#pragma once

#include <filesystem>

#include "trireme/data/registry.h"
#include "trireme/train/evaluate/prediction_writer.h"
#include "trireme/train/evaluate/trained_model.h"

namespace trireme::train {

inline constexpr std::int64_t kClassColumnsMax = 100;

void predict(const TrainedModel& trained, const data::Inputs& inputs, PredictionWriter& writer);

// REQUIRES: trained.data.form.is_text().
void predict_lines(const TrainedModel& trained, const std::filesystem::path& path,
                   PredictionWriter& writer);

}  // namespace trireme::train
