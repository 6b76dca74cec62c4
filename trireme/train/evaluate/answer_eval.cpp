#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "trireme/base/config/value.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/record.h"
#include "trireme/base/text/json_text.h"
#include "trireme/train/evaluate/answers.h"
#include "trireme/train/evaluate/bleu.h"
#include "trireme/train/evaluate/confusion_table.h"
#include "trireme/train/evaluate/ensemble.h"
#include "trireme/train/evaluate/evaluation.h"
#include "trireme/train/evaluate/significance.h"
#include "trireme/train/evaluate/tally.h"

namespace trireme::train {
namespace {

// Quotes a name that would be invisible in a table.
std::string class_name(const data::Form& form, std::size_t index) {
  if (index >= form.class_names.size()) return std::to_string(index);
  const std::string& name = form.class_names[index];
  const bool is_seen =
      std::any_of(name.begin(), name.end(), [](unsigned char c) { return c > ' '; });
  const bool is_plain =
      std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
  return is_seen && is_plain ? name : config::quote_toml(name);
}

// Empty if there is no confusion matrix: for numbers, and for too many classes.
std::vector<std::string> names_in_matrix(const Scores& scores, const data::Form& form) {
  std::vector<std::string> names;
  if (scores.matrix().empty()) return names;
  for (std::int64_t c = 0; c < scores.class_count(); ++c) {
    names.push_back(class_name(form, static_cast<std::size_t>(c)));
  }
  return names;
}

// Adds the metrics that exist for these data.
void add_metrics(Record& record, const Scores& scores, const data::Form& form) {
  record.add({"loss", scores.loss()});
  if (scores.answers() > 0) {
    record.add({"accuracy", scores.accuracy()});
    if (!scores.matrix().empty()) {
      record.add({"f1", scores.f1()});
      record.add({"balanced_accuracy", scores.balanced_accuracy()});
      record.add({"calibration_error", scores.calibration_error()});
      if (form.classes > 5) record.add({"top5", scores.top(5)});
    }
    if (scores.roc_auc()) record.add({"roc_auc", *scores.roc_auc()});
  }
  if (!scores.numbers().is_empty()) {
    record.add({"mae", scores.numbers().mean_absolute()});
    record.add({"r2", scores.numbers().r2()});
  }
  if (scores.skipped() > 0) record.add({"skipped", scores.skipped()});
  if (form.is_text()) record.add({"perplexity", scores.perplexity()});
  for (const auto& [name, value] : scores.task_figures()) record.add({name, value});
}

Record record_of(const TrainedModel& trained, const Scores& scores) {
  Record record{{"job", trained.folder.string()}, {"step", trained.step}};
  add_metrics(record, scores, trained.test->form());
  return record;
}

TrainedModel open_with_test(TrainedModelOptions wanted, const Kinds& kinds) {
  wanted.has_test = true;
  TrainedModel trained = open_trained(wanted, kinds);
  if (trained.test) return trained;
  throw Error(
      ErrorCode::InvalidInput,
      trained.folder.string() +
          ": the recipe has no test data to evaluate on; set data.test=PATH, if this kind of data "
          "supports it");
}

// The number of training samples of each class.
std::vector<std::int64_t> counts_of(const TrainedModel& trained, const Kinds& kinds) {
  if (!trained.data.class_counts.empty()) return trained.data.class_counts;
  return class_counts_of(*kinds.data.open(trained.config).train);
}

Blend blend_of(const std::string& name) {
  if (name == "average") return Blend::Average;
  if (name == "vote") return Blend::Vote;
  if (name == "stack") return Blend::Stack;
  throw Error(ErrorCode::InvalidInput, "--ensemble " + name + ": use average, vote or stack");
}

std::vector<TrainedModel> open_members(const WorkerWords& words, const Kinds& kinds) {
  TrainedModelOptions wanted = wanted_model(words);
  std::vector<TrainedModel> all;
  if (words.has("--snapshots")) {
    for (const std::int64_t step : last_steps(wanted.folder, words.integer("--snapshots", 2, 2))) {
      wanted.step = step;
      all.push_back(open_with_test(wanted, kinds));
    }
  } else {
    all.push_back(open_with_test(wanted, kinds));
  }
  for (const std::string& folder : words.list("--with")) {
    all.push_back(open_with_test({.folder = folder, .overrides = words.overrides()}, kinds));
  }
  return all;
}

PanelMember member_of(const TrainedModel& trained) {
  return {.model = trained.model, .source = trained.test};
}

int print_ensemble(const WorkerWords& words, const std::vector<TrainedModel>& all,
                   const PanelOptions& options) {
  const std::string how = words.text("--ensemble", "average");
  std::vector<PanelMember> members;
  for (const TrainedModel& trained : all) members.push_back(member_of(trained));
  const EnsembleScores scores = score_ensemble(std::move(members), blend_of(how), options);
  Record together{{"ensemble", how}, {"members", std::ssize(all)}, {"samples", scores.samples}};
  add_metrics(together, scores.ensemble, all.front().test->form());
  std::string list;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Record record = record_of(all[i], scores.members[i]);
    if (!scores.weights.empty()) record.add({"weight", scores.weights[i]});
    if (!words.has("--json")) std::printf("%s\n", record.to_text().c_str());
    list += (i == 0 ? "" : ",") + record.to_json();
  }
  if (words.has("--json")) {
    std::printf("{\"ensemble\":%s,\"members\":[%s]}\n", together.to_json().c_str(), list.c_str());
  } else {
    std::printf("\n%s\n", together.to_text().c_str());
  }
  return 0;
}

int print_difference(const WorkerWords& words, const TrainedModel& first, const Kinds& kinds,
                     const PanelOptions& options) {
  const TrainedModel second =
      open_with_test({.folder = words.text("--against"), .overrides = words.overrides()}, kinds);
  const auto seed = static_cast<std::uint64_t>(words.integer("--seed", 1));
  const ModelComparison found = compare_models(member_of(first), member_of(second), options, seed);
  Record record{{"loss_difference", found.loss.mean},
                {"loss_low", found.loss.low},
                {"loss_high", found.loss.high}};
  if (found.answers) {
    record.add({"only_first_right", found.answers->only_first});
    record.add({"only_second_right", found.answers->only_second});
    record.add({"p", found.answers->p});
  }
  const Record one = record_of(first, found.first);
  const Record other = record_of(second, found.second);
  if (words.has("--json")) {
    std::printf("{\"first\":%s,\"second\":%s,\"difference\":%s}\n", one.to_json().c_str(),
                other.to_json().c_str(), record.to_json().c_str());
    return 0;
  }
  std::printf("%s\n%s\n\n%s\n", one.to_text().c_str(), other.to_text().c_str(),
              record.to_text().c_str());
  std::printf("The losses %s at 95 %% (first - second, paired bootstrap over samples).\n",
              found.loss.low > 0 || found.loss.high < 0 ? "differ" : "do not differ");
  if (found.answers) {
    std::printf("The answers %s at 5 %% (McNemar's exact test).\n",
                found.answers->p < 0.05 ? "differ" : "do not differ");
  }
  return 0;
}

int print_one(const WorkerWords& words, const TrainedModel& trained, const PanelOptions& options) {
  const data::Form& form = trained.test->form();
  const comm::Group::Options alone{.timeout = options.timeouts.collective};
  const Scores scores = evaluate(*trained.model, {.source = trained.test,
                                                  .loss = options.loss,
                                                  .batch = options.batch,
                                                  .is_ranked = can_rank(*trained.test),
                                                  .group = comm::Group::solo(nullptr, 0, alone)});
  Record record{{"step", trained.step}};
  add_metrics(record, scores, form);
  if (words.has("--bleu")) {
    record.add({"bleu", bleu_of_continuations(*trained.model, *trained.test,
                                              words.integer("--bleu", 100, 1))});
  }
  const std::vector<std::string> names = names_in_matrix(scores, form);
  if (words.has("--save")) {
    // For `trireme plot`.
    const nlohmann::json all{
        {"step", trained.step}, {"classes", names}, {"matrix", scores.matrix()}};
    write_file_atomically(trained.folder / "evaluation.json", json_text(all) + "\n");
  }
  if (words.has("--json")) {
    std::printf("%s\n", record.to_json().c_str());
    return 0;
  }
  std::printf("%s\n", record.to_text().c_str());
  if (!names.empty() && names.size() <= 100) {
    std::printf("\n%s", class_table(names, scores.classes()).c_str());
  }
  if (!names.empty() && names.size() <= 20) {
    std::printf("\n%s", confusion_table(names, scores.matrix()).c_str());
  }
  return 0;
}

void refuse_mixed_words(const WorkerWords& words, bool is_ensemble) {
  const auto refuse = [](const std::string& why) { throw Error(ErrorCode::InvalidInput, why); };
  if (words.has("--against") && is_ensemble) refuse("--against is not supported with an ensemble");
  if (words.has("--snapshots") && words.has("--checkpoint")) {
    refuse("--snapshots, which uses the last checkpoints, is not supported with --checkpoint");
  }
  if (words.has("--ensemble") && !is_ensemble) {
    refuse("--ensemble requires several models; use --with or --snapshots");
  }
  if ((words.has("--save") || words.has("--bleu")) && (is_ensemble || words.has("--against"))) {
    refuse("--save and --bleu are supported only for one job");
  }
}

}  // namespace

int answer_eval(const WorkerWords& words, const Kinds& kinds) {
  const bool is_ensemble = words.has("--with") || words.has("--snapshots");
  refuse_mixed_words(words, is_ensemble);
  const std::vector<TrainedModel> all = open_members(words, kinds);
  const TrainedModel& first = all.front();
  const auto loss = loss_of(first.config, kinds, *first.model, first.test->form(),
                            [&] { return counts_of(first, kinds); });
  const PanelOptions options{.loss = loss.get(),
                             .batch = first.config.get<EvalConfig>("eval").batch,
                             .timeouts = first.timeouts()};
  if (is_ensemble) return print_ensemble(words, all, options);
  if (words.has("--against")) return print_difference(words, first, kinds, options);
  return print_one(words, first, options);
}

}  // namespace trireme::train
