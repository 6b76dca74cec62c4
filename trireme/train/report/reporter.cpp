#include "trireme/train/report/reporter.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "trireme/base/clock.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/base/text/shell_word.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/monitor/live_view.h"
#include "trireme/monitor/metrics_file.h"
#include "trireme/monitor/tensorboard.h"
#include "trireme/train/job.h"
#include "trireme/train/trainer.h"

namespace trireme::train {
namespace {

constexpr double kSecondsBetweenMetrics = 0.5;
constexpr std::int64_t kFirstMetrics = 10;
// Model FLOPs utilization over a shorter time is mostly noise.
constexpr double kSecondsOfMfu = 0.5;
// The first measurement is disturbed by other ranks and libraries that are starting, and is
// repeated after this time.
constexpr double kSecondsToRemeasure = 10;

double seconds_since(TimePoint then) {
  return std::chrono::duration<double>(steady_clock().now() - then).count();
}

std::string text_of(const Scores& scores, bool is_text) {
  char text[128];
  std::string all = "loss " + monitor::figure_text(scores.loss());
  if (!scores.numbers().is_empty()) {
    std::snprintf(text, sizeof(text), ", r2 %.4f", scores.numbers().r2());
    all += ", mae " + monitor::figure_text(scores.numbers().mean_absolute()) + text;
  }
  if (scores.answers() > 0) {
    std::snprintf(text, sizeof(text), ", accuracy %.2f %%", 100 * scores.accuracy());
    all += text;
  }
  if (is_text) {
    std::snprintf(text, sizeof(text), ", perplexity %.2f", scores.perplexity());
    all += text;
  }
  if (scores.skipped() > 0) {
    all += ", " + std::to_string(scores.skipped()) +
           (scores.skipped() == 1 ? " sample skipped" : " samples skipped");
  }
  return all;
}

// Tells which checkpoint is the best and how to use it; empty if no checkpoint was evaluated.
std::string best_text(const Progress& progress, const std::filesystem::path& folder) {
  if (progress.best_step < 0) return {};
  const std::string best = "best by " + progress.metric + ": step " +
                           std::to_string(progress.best_step) + " (" +
                           monitor::figure_text(progress.best) + ")";
  const std::string name = checkpoint::format::folder_name(progress.best_step);
  if (!std::filesystem::exists(folder / "checkpoints" / name)) {
    return best + ", whose checkpoint was not kept (checkpoint.keep_best)";
  }
  // The path by which the user called `trireme`, which may not be in the shell's PATH.
  const char* program = std::getenv("TRIREME_PROGRAM");
  const char* worker = std::getenv("TRIREME_WORKER_OPTION");
  return best + "; eval, generate, predict and checkpoint export use it with --checkpoint best: " +
         shell_word(program == nullptr ? "trireme" : program) + " eval " +
         shell_word(folder.string()) + " --checkpoint best" +
         (worker == nullptr ? "" : " --worker " + shell_word(worker));
}

// The fastest type that the matrix products of a job use.
Precision fastest_precision(const TrainConfig& config) {
  const auto is_narrow = [](const std::string& text) { return text.ends_with("=bf16"); };
  const bool has_narrow = std::ranges::any_of(config.module_precision, is_narrow);
  return config.precision == Precision::Float32 && has_narrow ? Precision::BFloat16
                                                              : config.precision;
}

std::string summary_of(const Job& job) {
  char text[160];
  std::snprintf(text, sizeof(text), "%s: %s parameters, %s samples, %" PRId64 " steps, %d rank%s",
                job.config.kind("model").c_str(),
                monitor::number_text(double(job.parameter_count)).c_str(),
                monitor::number_text(double(job.sets.train->count())).c_str(), job.steps,
                job.group.size(), job.group.size() == 1 ? "" : "s");
  return text;
}

}  // namespace

struct Reporter::State {
  std::filesystem::path folder;
  Descriptor terminal;
  std::optional<monitor::LiveView> view;
  std::optional<monitor::MetricsFile> metrics;
  std::optional<monitor::MetricsFile> events;
  std::optional<monitor::TensorboardWriter> board;
  monitor::ProgressReport shown;
  std::int64_t step = 0;
  std::int64_t first_step = 0;
  std::int64_t steps_an_epoch = 1;
  std::int64_t log_every = 0;
  std::int64_t units_a_sample = 1;  // the number of tokens if samples are texts
  double flops_a_sample = 0;
  Precision precision = Precision::Float32;  // see fastest_precision()
  int ranks = 1;
  bool is_remeasured = false;
  bool is_excess_told = false;  // the warning about an exceeded peak was shown
  bool is_successor = false;    // another rank reported before
  bool has_standards = false;   // targets are standardized
  bool has_spreads = false;     // the variance of targets is known
  TimePoint begin = steady_clock().now();
  TimePoint metric_at = begin;
  // Since the last metric.
  std::int64_t samples = 0;
  StepTimes times;
  parallel::Traffic traffic;
  double steps = 0;
  // Since the last MFU.
  std::int64_t mfu_samples = 0;
  double mfu_seconds = 0;
  std::int64_t skipped = 0;  // samples of this epoch

  bool is_text() const { return units_a_sample > 1; }
  void describe(const Job& job);
  void open_files(std::int64_t first);
  void add(const Outcome& outcome);
  void show(const Progress& progress, const Outcome& outcome);
  bool is_metric_due() const;
  void plot(const std::string& group, const Record& record, std::int64_t at_step);
};

void Reporter::State::describe(const Job& job) {
  const data::Form& form = job.sets.train->form();
  if (form.is_text()) {
    units_a_sample = form.target_count();
    shown.unit = "tokens";
  }
  shown.steps = job.steps;
  steps_an_epoch = job.steps_an_epoch;
  flops_a_sample = job.flops_a_sample;
  log_every = job.train().log_every;
  view->set_line_steps(log_every);
  precision = fastest_precision(job.train());
  ranks = job.group.size();
  has_standards = !form.target_standards.empty();
  has_spreads = !form.target_spreads.empty();
}

// Those of a resumed job are continued after step `first`.
void Reporter::State::open_files(std::int64_t first) {
  const bool is_resumed = first > 0;
  step = first_step = first;
  metrics.emplace(folder / "metrics.jsonl", is_resumed ? first : -1);
  board.emplace(folder / "tensorboard", is_resumed ? std::optional(first + 1) : std::nullopt);
}

void Reporter::State::add(const Outcome& outcome) {
  samples += outcome.samples;
  times += outcome.times;
  traffic += outcome.traffic;
  ++steps;
}

void Reporter::State::show(const Progress& progress, const Outcome& outcome) {
  shown.step = progress.step;
  shown.epoch = static_cast<double>(progress.step) / static_cast<double>(steps_an_epoch);
  if (!outcome.is_empty) shown.loss = outcome.loss;
  if (outcome.errors) {
    shown.mae = outcome.errors->absolute;
    // The loss of standardized targets has no unit.
    if (has_standards) shown.loss = outcome.errors->squared;
    if (has_spreads) shown.r2 = 1 - outcome.errors->standardized;
  }
  shown.learning_rate = outcome.learning_rate;
  if (progress.step > first_step) {
    const double a_step = seconds_since(begin) / static_cast<double>(progress.step - first_step);
    shown.seconds_left = a_step * static_cast<double>(shown.steps - progress.step);
  }
  const double seconds = times.total();
  if (seconds > 0) {
    const double rate = static_cast<double>(samples) / seconds;
    shown.rate = rate * static_cast<double>(units_a_sample);
    shown.data_wait = times.data / seconds;
  }
  view->update(shown);
}

// The curve of `eval_loss` in the group "eval" is eval/loss, and that of `loss` in "train" is
// train/loss.
void Reporter::State::plot(const std::string& group, const Record& record, std::int64_t at_step) {
  for (const auto& field : record.fields()) {
    const auto* const value = std::get_if<double>(&field.value);
    if (value == nullptr) continue;
    const std::size_t prefix = field.key.starts_with(group + "_") ? group.size() + 1 : 0;
    board->scalar(group + "/" + field.key.substr(prefix), *value, at_step);
  }
}

bool Reporter::State::is_metric_due() const {
  if (step == shown.steps) return true;
  if (log_every > 0) return step % log_every == 0;
  return seconds_since(metric_at) >= kSecondsBetweenMetrics || step <= kFirstMetrics;
}

Reporter::Reporter(Options options) : options_(std::move(options)), peak_(options_.measure_peak) {
  if (!options_.folder.empty() && !options_.is_silent) open();
}

void Reporter::open() {
  state_ = std::make_unique<State>();
  state_->folder = options_.folder;
  if (!options_.terminal.empty()) {
    state_->terminal =
        Descriptor(::open(options_.terminal.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  }
  state_->view.emplace(
      monitor::LiveView::options_for(state_->terminal ? state_->terminal.get() : STDOUT_FILENO));
}

Reporter::~Reporter() = default;

void Reporter::take_over(const Job& job, const Progress& progress) {
  if (state_ || options_.folder.empty()) return;
  open();
  state_->is_successor = true;
  begin(job, progress);
}

void Reporter::begin(const Job& job, const Progress& progress) {
  if (!state_ || state_->metrics) return;
  State& s = *state_;
  s.describe(job);
  if (s.flops_a_sample > 0) peak_.measure(s.precision);
  s.begin = s.metric_at = steady_clock().now();
  s.open_files(progress.step);
  const bool is_resumed = progress.step > 0;
  if (!s.is_successor) {
    s.view->note(summary_of(job));
    for (const std::string& note : job.sets.notes) s.view->note(note);
    if (is_resumed) s.view->note("continuing from step " + std::to_string(progress.step));
  }
  event({{"event", s.is_successor ? "took over"
                   : is_resumed   ? "resumed"
                                  : "began"},
         {"ranks", job.group.size()},
         {"job_hash", job.hash}});
}

void Reporter::step(const Progress& progress, const Outcome& outcome) {
  if (!state_) return;
  State& s = *state_;
  s.step = progress.step;
  // A repeated step reuses work of its first attempt, which would make it look faster.
  if (!outcome.is_repeated) {
    s.add(outcome);
    update_mfu(outcome);
  } else if (s.is_successor && progress.step == s.first_step + 1) {
    // The first step after a takeover began earlier, so its speed and time would be wrong.
    s.begin = steady_clock().now();
    s.first_step = progress.step;
  }
  if (outcome.is_empty) {
    warn("step " + std::to_string(progress.step) + ": none of its " +
             std::to_string(outcome.skipped) + " samples could be read; no update was made",
         {{"event", "empty step"}, {"samples", outcome.skipped}});
  }
  s.show(progress, outcome);
  warn_of_skipped(outcome.skipped);
  if (s.is_metric_due()) write_metrics(progress, outcome);
}

// At the end of every epoch.
void Reporter::warn_of_skipped(std::int64_t more) {
  State& s = *state_;
  s.skipped += more;
  if (s.skipped == 0 || s.step % s.steps_an_epoch != 0) return;
  const std::int64_t skipped = std::exchange(s.skipped, 0);
  warn("epoch " + std::to_string(s.step / s.steps_an_epoch) + ": skipped " +
           std::to_string(skipped) + (skipped == 1 ? " sample" : " samples") +
           " that could not be read",
       {{"event", "skipped samples"}, {"samples", skipped}});
}

void Reporter::set_ranks(int ranks) {
  if (!state_ || state_->ranks == ranks) return;
  state_->ranks = ranks;
  state_->mfu_samples = 0;
  state_->mfu_seconds = 0;
}

void Reporter::update_mfu(const Outcome& outcome) {
  State& s = *state_;
  if (s.flops_a_sample <= 0) return;
  s.mfu_samples += outcome.samples;
  s.mfu_seconds += outcome.times.total();
  if (s.mfu_seconds < kSecondsOfMfu) return;
  if (!s.is_remeasured && seconds_since(s.begin) >= kSecondsToRemeasure) {
    s.is_remeasured = true;
    peak_.measure(s.precision);
  }
  const double rate = static_cast<double>(s.mfu_samples) / s.mfu_seconds;
  const double achieved = rate * s.flops_a_sample / s.ranks;
  s.shown.mfu = peak_.utilization(achieved, s.precision);
  if (peak_.is_trusted() && !s.shown.mfu && !std::exchange(s.is_excess_told, true)) {
    char text[240];
    std::snprintf(
        text, sizeof(text),
        "MFU is not shown: training makes %.3g FLOP/s per rank, more than the measured peak of "
        "%.3g. The peak was measured too low, or the model's operations are counted too high",
        achieved, peak_.value());
    warn(text, {{"event", "mfu above 1"}, {"flops", achieved}, {"peak_flops", peak_.value()}});
  }
  s.mfu_samples = 0;
  s.mfu_seconds = 0;
}

void Reporter::write_metrics(const Progress& progress, const Outcome& outcome) {
  State& s = *state_;
  const double seconds = std::max(s.times.total(), 1e-9);
  Record record{{"loss", s.shown.loss}, {"learning_rate", outcome.learning_rate}};
  if (s.shown.rate) record.add({s.shown.unit + "_per_second", *s.shown.rate});
  for (const Record::Field& field : {Record::Field{"samples", progress.samples},
                                     {"data_share", s.times.data / seconds},
                                     {"forward_share", s.times.forward / seconds},
                                     {"backward_share", s.times.backward / seconds},
                                     {"wait_share", s.times.wait / seconds},
                                     {"update_share", s.times.update / seconds}}) {
    record.add(field);
  }
  if (outcome.norm > 0) record.add({"gradient_norm", outcome.norm});
  if (s.shown.mae) record.add({"mae", *s.shown.mae});
  if (s.shown.r2) record.add({"r2", *s.shown.r2});
  if (s.traffic.plain > 0) {
    record.add({"bytes_plain_per_step", static_cast<double>(s.traffic.plain) / s.steps});
    record.add({"bytes_sent_per_step", static_cast<double>(s.traffic.sent) / s.steps});
  }
  if (s.shown.mfu) record.add({"mfu", *s.shown.mfu});
  // Distinguishes the lines of this run from those of the run that it resumed.
  Record timed = record;
  timed.add({"time", wall_seconds()});
  s.metrics->write(progress.step, timed);
  s.plot("train", record, progress.step);
  s.metric_at = steady_clock().now();
  s.samples = 0;
  s.times = {};
  s.traffic = {};
  s.steps = 0;
}

void Reporter::evaluated(const Progress& progress, const Scores& scores) {
  if (!state_) return;
  State& s = *state_;
  Record record{{"eval_loss", scores.loss()}};
  if (scores.answers() > 0) record.add({"eval_accuracy", scores.accuracy()});
  if (!scores.numbers().is_empty()) {
    record.add({"eval_mae", scores.numbers().mean_absolute()});
    record.add({"eval_r2", scores.numbers().r2()});
  }
  for (const auto& [name, value] : scores.task_figures()) record.add({"eval_" + name, value});
  if (scores.skipped() > 0) record.add({"eval_skipped", scores.skipped()});
  s.metrics->write(progress.step, record);
  s.plot("eval", record, progress.step);
  s.board->flush();
  s.shown.evaluation =
      "step " + std::to_string(progress.step) + ": " + text_of(scores, s.is_text());
  s.view->note("evaluation at " + s.shown.evaluation +
               (progress.best_step == progress.step ? " (best so far)" : ""));
}

void Reporter::saved(std::int64_t step, const checkpoint::Saver::Figures& figures) {
  if (!state_) return;
  state_->shown.checkpoint_step = step;
  // A job that is killed later resumes from this checkpoint, and its curves must reach this step.
  if (state_->board) state_->board->flush();
  event({{"event", "checkpoint"},
         {"step", step},
         {"seconds_copied", figures.seconds_copied},
         {"seconds_waited", figures.seconds_waited}});
}

void Reporter::event(const Record& what) {
  if (!state_) return;
  State& s = *state_;
  if (!s.events) s.events.emplace(s.folder / "events.jsonl", monitor::MetricsFile::kEveryStep);
  const auto* own = what.find("step");
  const auto* step = own != nullptr ? std::get_if<std::int64_t>(own) : nullptr;
  Record timed{{"time", wall_seconds()}};
  for (const auto& field : what.fields()) timed.add(field);
  s.events->write(step != nullptr ? *step : s.step, timed);
}

void Reporter::warn(const std::string& text, const Record& what) {
  if (!state_) return;
  state_->view->note(text);
  event(what);
}

void Reporter::end(const Progress& progress, TrainingOutcome ending) {
  if (!state_) return;
  State& s = *state_;
  const char* how = ending == TrainingOutcome::Done ? "done"
                    : ending == TrainingOutcome::Stopped
                        ? "stopped"
                        : "ended early: no better evaluation for eval.patience";
  event({{"event", "ended"}, {"how", how}, {"seconds", progress.seconds}});
  s.board->flush();
  s.view->finish();
  s.view->note(std::string(how) + " after " + std::to_string(progress.step) + " steps, " +
               monitor::duration_text(progress.seconds) + "; everything is in " +
               s.folder.string());
  const std::string best = best_text(progress, s.folder);
  if (!best.empty()) s.view->note(best);
}

}  // namespace trireme::train
