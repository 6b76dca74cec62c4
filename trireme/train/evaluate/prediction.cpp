#include "trireme/train/evaluate/prediction.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/data/data_config.h"
#include "trireme/data/loader.h"
#include "trireme/model/documents.h"
#include "trireme/model/loss/multitask_loss.h"
#include "trireme/train/evaluate/evaluation.h"
#include "trireme/train/evaluate/generation.h"
#include "trireme/train/recipe/config.h"

namespace trireme::train {
namespace {

using Names = std::vector<std::string>;

std::string name_at(const Names& names, std::int64_t index) {
  const auto at = static_cast<std::size_t>(index);
  return at < names.size() ? names[at] : std::to_string(index);
}

// A number in original units is as exact as the float32 that the model computed. It stays a double
// if the mean is so large that a float32 would lose that precision.
PredictionCell number_cell(std::string column, double value, double deviation) {
  constexpr double kRounding = 1e-6;  // of a standard deviation
  const auto narrow = static_cast<float>(value);
  if (std::abs(double{narrow} - value) > kRounding * deviation) return {std::move(column), value};
  return {std::move(column), narrow};
}

// Class names of each target of a table; empty if targets are numbers or have no names.
Names target_classes(const data::Preprocessing& known, std::size_t target) {
  if (!known.table) return target == 0 ? known.source.class_names : Names();
  const auto& classes = known.table->targets.at(target).classes;
  Names names(classes.size());
  for (const auto& [name, number] : classes) names.at(static_cast<std::size_t>(number)) = name;
  return names;
}

// The outputs of a model for a batch, as rows that can be written.
class Answers {
 public:
  Answers(const data::Preprocessing& known, const at::Tensor& output) {
    const data::Form& form = known.form;
    for (std::size_t i = 0; i < form.tasks.size(); ++i) {
      const at::Tensor said = model::head_of(output, form.tasks, i);
      const std::string suffix = "_" + form.tasks[i].name;
      form.tasks[i].classes > 0 ? add_classes(suffix, said, target_classes(known, i))
                                : add_number(suffix, said.squeeze(1), form, i);
    }
    if (form.classes > 0) add_classes("", output, form.class_names);
    if (!form.tasks.empty() || form.classes > 0) return;
    const at::Tensor numbers = output.reshape({output.size(0), -1});
    for (std::int64_t i = 0; i < numbers.size(1); ++i) {
      const auto index = static_cast<std::size_t>(i);
      const std::string name =
          known.table ? known.table->targets.at(index).name : std::to_string(index);
      add_number(numbers.size(1) == 1 ? "" : "_" + name, numbers.select(1, i), form, index);
    }
  }

  void add_to(PredictionRow& row, std::int64_t sample) const {
    for (const Predicted& target : targets_) {
      const at::Tensor said = target.said[sample];
      if (!target.is_class) {
        row.push_back(
            number_cell("predicted" + target.suffix, said.item<double>(), target.deviation));
        continue;
      }
      const std::int64_t best = said.argmax().item<std::int64_t>();
      row.push_back({"predicted" + target.suffix, name_at(target.names, best)});
      row.push_back({"probability" + target.suffix, said[best].item<float>()});
      if (!target.suffix.empty() || said.numel() > kClassColumnsMax) continue;
      for (std::int64_t i = 0; i < said.numel(); ++i) {
        row.push_back({"p_" + name_at(target.names, i), said[i].item<float>()});
      }
    }
  }

 private:
  struct Predicted {
    std::string suffix;  // of the columns; empty if there is one target
    at::Tensor said;     // probabilities (B, classes), or numbers in original units (B)
    bool is_class = false;
    Names names{};  // of the classes
    double deviation = 1;
  };

  void add_classes(const std::string& suffix, const at::Tensor& logits, const Names& names) {
    targets_.push_back({suffix, logits.softmax(-1), /*is_class=*/true, names});
  }
  void add_number(const std::string& suffix, const at::Tensor& numbers, const data::Form& form,
                  std::size_t target) {
    std::vector<data::Standard> own;
    if (target < form.target_standards.size()) own.push_back(form.target_standards[target]);
    targets_.push_back({.suffix = suffix,
                        .said = data::restored(numbers.unsqueeze(1), own).squeeze(1),
                        .deviation = own.empty() ? 1 : own[0].deviation});
  }

  std::vector<Predicted> targets_;
};

PredictionCell name_cell(const data::Inputs& inputs, const std::string& name) {
  if (inputs.named_by == "line") return {inputs.named_by, std::int64_t{std::stoll(name)}};
  return {inputs.named_by, name};
}

// Writes rows in the order of the input, including empty rows for samples that are left out.
class InputOrder {
 public:
  InputOrder(const data::Inputs& inputs, PredictionWriter& writer)
      : inputs_(inputs), writer_(writer) {}

  // Writes empty rows for all samples that come before this sample of the source.
  void skip_to(std::int64_t sample) {
    while (next_ < sample) writer_.write_empty(take());
    skip_left_out();
  }
  PredictionCell take() {
    skip_left_out();
    return name_cell(inputs_, inputs_.names.at(static_cast<std::size_t>(next_++)));
  }

 private:
  void skip_left_out() {
    const auto& all = inputs_.left_out;
    for (; left_out_ < all.size() && all[left_out_].before <= next_; ++left_out_) {
      writer_.write_empty(name_cell(inputs_, all[left_out_].name));
    }
  }

  const data::Inputs& inputs_;
  PredictionWriter& writer_;
  std::int64_t next_ = 0;  // sample of the source
  std::size_t left_out_ = 0;
};

// The log-probabilities of the token that follows each of these tokens: (T, V).
at::Tensor logs_of(const TrainedModel& trained, const at::Tensor& tokens) {
  const at::Tensor input = tokens.unsqueeze(0).to(model::device_of(*trained.model));
  const model::Context context{.documents = model::documents_in(input, trained.data.form)};
  return trained.model->forward(input, context).to(at::kFloat)[0].log_softmax(-1).cpu();
}

// The row of a line: its most likely next token, and the loss of its own tokens.
PredictionRow line_row(const TrainedModel& trained, const Vocabulary& vocabulary,
                       const std::vector<std::int64_t>& line) {
  const at::Tensor tokens = at::tensor(line, at::kLong);
  const std::int64_t count = tokens.numel();
  const std::int64_t window = std::min(trained.data.form.input_sizes.at(0), count);
  at::Tensor logs;
  double sum = 0;
  std::int64_t scored = 0;  // tokens after the first
  for (std::int64_t begin = 0;; begin = std::min(begin + (window + 1) / 2, count - window)) {
    logs = logs_of(trained, tokens.narrow(0, begin, window));
    const std::int64_t fresh = std::min(begin + window, count - 1) - scored;
    if (fresh > 0) {
      const at::Tensor next = tokens.narrow(0, scored + 1, fresh).unsqueeze(1);
      sum -= logs.narrow(0, scored - begin, fresh).gather(1, next).sum().item<double>();
      scored += fresh;
    }
    if (begin + window == count) break;
  }
  PredictionRow row;
  const at::Tensor last = logs[-1];
  const std::int64_t best = last.argmax().item<std::int64_t>();
  row.push_back({"predicted", vocabulary.decode(best)});
  row.push_back({"probability", last[best].exp().item<float>()});
  PredictionCell loss{"loss"};
  if (scored > 0) loss.value = static_cast<float>(sum / static_cast<double>(scored));
  row.push_back(std::move(loss));
  return row;
}

// The tokens of each line; a line that cannot be read is reported with its number.
std::vector<std::vector<std::int64_t>> read_lines(const std::filesystem::path& path,
                                                  const Vocabulary& vocabulary) {
  std::vector<std::vector<std::int64_t>> lines;
  std::istringstream text(read_file(path));
  for (std::string line; std::getline(text, line);) {
    if (line.ends_with('\r')) line.pop_back();
    try {
      lines.push_back(vocabulary.encode(line));
    } catch (const Error& error) {
      throw Error(error.code(),
                  path.string() + ":" + std::to_string(lines.size() + 1) + ": " + error.message());
    }
    if (lines.back().empty()) lines.back() = vocabulary.beginning();
  }
  return lines;
}

}  // namespace

void predict(const TrainedModel& trained, const data::Inputs& inputs, PredictionWriter& writer) {
  if (inputs.source->form().input_sizes != trained.data.form.input_sizes) {
    throw Error(ErrorCode::InvalidInput,
                "the samples have other sizes than the training data of the model");
  }
  const c10::InferenceMode guard;
  trained.model->eval();
  data::Loader loader({.source = inputs.source,
                       .batch = trained.config.get<EvalConfig>("eval").batch,
                       .is_shuffled = false,
                       .threads = trained.config.get<data::DataConfig>("data").threads,
                       .timeout = trained.timeouts().loader()});
  InputOrder order(inputs, writer);
  for (std::int64_t step = 0; step < loader.steps_an_epoch(); ++step) {
    const data::StepBatches& work = loader.next();
    const data::Batch& batch = work.batches[0];
    if (batch.count() == 0) continue;  // no sample of the batch could be read
    const auto places = batch.places.accessor<std::int64_t, 1>();
    const Answers answers(trained.data, outputs_of(*trained.model, work, trained.data.form).cpu());
    for (std::int64_t i = 0; i < batch.count(); ++i) {
      order.skip_to(work.at.cursor + places[i]);
      PredictionRow row{order.take()};
      answers.add_to(row, i);
      writer.write(row);
    }
  }
  order.skip_to(inputs.source->count());
}

void predict_lines(const TrainedModel& trained, const std::filesystem::path& path,
                   PredictionWriter& writer) {
  const Vocabulary vocabulary(trained.data.form);
  // A line that cannot be read is an error before any row is written.
  const auto lines = read_lines(path, vocabulary);
  const c10::InferenceMode guard;
  trained.model->eval();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    PredictionRow row = line_row(trained, vocabulary, lines[i]);
    row.insert(row.begin(), {"line", static_cast<std::int64_t>(i + 1)});
    writer.write(row);
  }
}

}  // namespace trireme::train
