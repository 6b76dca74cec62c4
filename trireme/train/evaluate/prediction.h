// Prediction is what a trained model says of samples whose targets nobody knows.
//
// Columns: what identifies the sample (`line` or `file`); of classes `predicted`, `probability`
// and,
//          for at most kClassColumnsMax of them, `p_NAME` for each; of numbers `predicted`, in the
//          units of the training data. Where there are several targets, `predicted_TARGET` for each
//          and `probability_TARGET` for those of classes.
// Texts:   of each line the token that is likeliest to come next and its probability; `loss` is the
//          mean of -log p over the line's own tokens but the first, empty where it has only one. A
//          line longer than the model's context is read in windows that overlap by half, and the
//          next token follows from the last window.
// Order:   that of the input. A sample that is left out (a missing value with data.missing =
//          "drop", a damaged file with data.bad_samples = "skip") has a row without a prediction.
// Errors:  what reading the samples throws, which names the file and the line.
// Threads: one.

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
