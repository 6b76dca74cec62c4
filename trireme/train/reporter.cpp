#include "trireme/train/reporter.h"

#include <fcntl.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <optional>
#include <utility>

#include "trireme/base/clock.h"
#include "trireme/base/descriptor.h"
#include "trireme/monitor/live_view.h"
#include "trireme/monitor/metrics_file.h"
#include "trireme/monitor/tensorboard.h"
#include "trireme/train/job.h"
#include "trireme/train/peak_flops.h"
#include "trireme/train/trainer.h"

namespace trireme::train {
namespace {

constexpr double kSecondsBetweenMetrics = 0.5;
constexpr std::int64_t kFirstMetrics = 10;

double seconds_since(TimePoint then) {
  return std::chrono::duration<double>(steady_clock().now() - then).count();
}

std::string text_of(const Scores& scores, bool is_text) {
  char text[128];
  std::snprintf(text, sizeof(text), "loss %.4f", scores.loss());
  std::string all = text;
  if (scores.answers() > 0) {
    std::snprintf(text, sizeof(text), ", accuracy %.2f %%", 100 * scores.accuracy());
    all += text;
  }
  if (is_text) {
    std::snprintf(text, sizeof(text), ", perplexity %.2f", scores.perplexity());
    all += text;
  }
  return all;
}

}  // namespace

struct Reporter::State {
  std::filesystem::path folder;
  Descriptor terminal;
  std::optional<monitor::LiveView> view;
  std::optional<monitor::MetricsFile> metrics;
  std::optional<monitor::MetricsFile> events;
  std::optional<monitor::TensorboardWriter> board;
  monitor::Progress shown;
  std::int64_t step = 0;
  std::int64_t first_step = 0;
  std::int64_t steps_an_epoch = 1;
  std::int64_t units_a_sample = 1;  // tokens of a text
  double flops_a_sample = 0;
  double peak_flops = 0;  // of all ranks
  bool is_heir = false;   // of one that reported before
  TimePoint begin = steady_clock().now();
  TimePoint metric_at = begin;
  // Since the last metric.
  std::int64_t samples = 0;
  StepTimes times;
  parallel::Traffic traffic;
  double steps = 0;

  bool is_text() const { return units_a_sample > 1; }
};

Reporter::Reporter(Options options) : options_(std::move(options)) {
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
  state_->is_heir = true;
  begin(job, progress);
}

void Reporter::begin(const Job& job, const Progress& progress) {
  if (!state_ || state_->metrics) return;
  State& s = *state_;
  const data::Form& form = job.sets.train->form();
  if (form.is_text()) {
    s.units_a_sample = form.target_count();
    s.shown.unit = "tokens";
  }
  s.shown.steps = job.steps;
  s.steps_an_epoch = job.steps_an_epoch;
  s.flops_a_sample = job.flops_a_sample;
  if (s.flops_a_sample > 0 && peak_flops_ == 0) peak_flops_ = measure_peak_flops();
  s.peak_flops = s.flops_a_sample > 0 ? peak_flops_ * job.group.size() : 0;
  s.begin = s.metric_at = steady_clock().now();
  s.step = s.first_step = progress.step;
  const bool is_resumed = progress.step > 0;
  s.metrics.emplace(s.folder / "metrics.jsonl", is_resumed ? progress.step : -1);
  s.board.emplace(s.folder / "tensorboard",
                  is_resumed ? std::optional(progress.step + 1) : std::nullopt);
  char text[160];
  std::snprintf(text, sizeof(text), "%s: %s parameters, %s samples, %" PRId64 " steps, %d rank%s",
                job.config.kind("model").c_str(),
                monitor::number_text(double(model::parameter_count(*job.model))).c_str(),
                monitor::number_text(double(job.sets.train->count())).c_str(), job.steps,
                job.group.size(), job.group.size() == 1 ? "" : "s");
  if (!s.is_heir) s.view->note(text);
  if (is_resumed && !s.is_heir) s.view->note("going on from step " + std::to_string(progress.step));
  event({{"event", s.is_heir    ? "took over"
                   : is_resumed ? "resumed"
                                : "began"},
         {"ranks", job.group.size()},
         {"job_hash", job.hash}});
}

void Reporter::step(const Progress& progress, const Outcome& outcome) {
  if (!state_) return;
  State& s = *state_;
  s.step = progress.step;
  s.samples += outcome.samples;
  s.times += outcome.times;
  s.traffic += outcome.traffic;
  ++s.steps;
  const double seconds = s.times.total();
  const double a_step = seconds_since(s.begin) / static_cast<double>(progress.step - s.first_step);
  s.shown.step = progress.step;
  s.shown.epoch = static_cast<double>(progress.step) / static_cast<double>(s.steps_an_epoch);
  s.shown.loss = outcome.loss;
  s.shown.learning_rate = outcome.rate;
  s.shown.seconds_left = a_step * static_cast<double>(s.shown.steps - progress.step);
  if (seconds > 0) {
    const double rate = static_cast<double>(s.samples) / seconds;
    s.shown.rate = rate * static_cast<double>(s.units_a_sample);
    s.shown.data_wait = s.times.data / seconds;
    if (s.peak_flops > 0) s.shown.mfu = rate * s.flops_a_sample / s.peak_flops;
  }
  s.view->update(s.shown);
  const bool is_due = seconds_since(s.metric_at) >= kSecondsBetweenMetrics ||
                      progress.step <= kFirstMetrics || progress.step == s.shown.steps;
  if (is_due) write_metrics(progress, outcome);
}

void Reporter::write_metrics(const Progress& progress, const Outcome& outcome) {
  State& s = *state_;
  const double seconds = std::max(s.times.total(), 1e-9);
  Record record{{"loss", outcome.loss},
                {"learning_rate", outcome.rate},
                {s.shown.unit + "_per_second", s.shown.rate},
                {"samples", progress.samples},
                {"data_share", s.times.data / seconds},
                {"forward_share", s.times.forward / seconds},
                {"backward_share", s.times.backward / seconds},
                {"wait_share", s.times.wait / seconds},
                {"update_share", s.times.update / seconds}};
  if (outcome.norm > 0) record.add({"gradient_norm", outcome.norm});
  if (s.traffic.plain > 0) {
    record.add({"bytes_plain_per_step", static_cast<double>(s.traffic.plain) / s.steps});
    record.add({"bytes_sent_per_step", static_cast<double>(s.traffic.sent) / s.steps});
  }
  if (s.shown.mfu) record.add({"mfu", *s.shown.mfu});
  s.metrics->write(progress.step, record);
  for (const auto& field : record.fields()) {
    if (const auto* value = std::get_if<double>(&field.value)) {
      s.board->scalar("train/" + field.key, *value, progress.step);
    }
  }
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
  s.board->scalar("eval/loss", scores.loss(), progress.step);
  if (scores.answers() > 0) {
    record.add({"eval_accuracy", scores.accuracy()});
    s.board->scalar("eval/accuracy", scores.accuracy(), progress.step);
  }
  for (const auto& [name, value] : scores.task_figures()) {
    record.add({"eval_" + name, value});
    s.board->scalar("eval/" + name, value, progress.step);
  }
  s.metrics->write(progress.step, record);
  s.board->flush();
  s.shown.evaluation =
      "step " + std::to_string(progress.step) + ": " + text_of(scores, s.is_text());
  s.view->note("evaluation at " + s.shown.evaluation +
               (progress.best_step == progress.step ? " (best so far)" : ""));
}

void Reporter::saved(std::int64_t step, const checkpoint::Saver::Figures& figures) {
  if (!state_) return;
  state_->shown.checkpoint_step = step;
  // Whoever is killed after this goes on from here, and finds its curves up to here.
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

void Reporter::end(const Progress& progress, Ending ending) {
  if (!state_) return;
  State& s = *state_;
  const char* how = ending == Ending::Done      ? "done"
                    : ending == Ending::Stopped ? "stopped"
                                                : "ended early: no better for a while";
  event({{"event", "ended"}, {"how", how}, {"seconds", seconds_since(s.begin)}});
  s.board->flush();
  s.view->finish();
  s.view->note(std::string(how) + " after " + std::to_string(progress.step) + " steps, " +
               monitor::duration_text(seconds_since(s.begin)) + "; everything is in " +
               s.folder.string());
  if (ending == Ending::Stopped) {
    s.view->note("go on with: trireme train " + (s.folder / "config.toml").string() +
                 " --resume --output " + s.folder.string());
  }
}

}  // namespace trireme::train
