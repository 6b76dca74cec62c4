#include "trireme/train/reporter.h"

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <optional>
#include <utility>

#include "trireme/base/clock.h"
#include "trireme/monitor/tensorboard.h"
#include "trireme/train/job.h"
#include "trireme/train/trainer.h"

namespace trireme::train {
namespace {

constexpr double kSecondsBetweenLines = 5;
constexpr std::int64_t kFirstLines = 3;
constexpr double kSecondsBetweenMetrics = 1;

double seconds_since(TimePoint then) {
  return std::chrono::duration<double>(steady_clock().now() - then).count();
}

std::string duration_text(double seconds) {
  char text[32];
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < 3600) {
    std::snprintf(text, sizeof(text), "%" PRId64 ":%02" PRId64, whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof(text), "%" PRId64 " h %02" PRId64 " min", whole / 3600,
                  whole / 60 % 60);
  }
  return text;
}

}  // namespace

struct Reporter::State {
  std::ofstream metrics;
  std::ofstream events;
  std::optional<monitor::TensorboardWriter> board;
  std::int64_t steps = 0;
  std::int64_t units_a_sample = 1;  // tokens of a text
  const char* unit = "samples";
  TimePoint begin = steady_clock().now();
  TimePoint line_at = begin;
  TimePoint metric_at = begin;
  std::int64_t lines = 0;
  std::int64_t first_step = 0;
  // Since the last line.
  std::int64_t samples = 0;
  StepTimes times;
  std::filesystem::path folder;

  void write(std::ofstream& file, const Record& record) {
    Record timed{{"time", wall_seconds()}};
    for (const auto& field : record.fields()) timed.add(field);
    file << timed.to_json() << '\n' << std::flush;
  }
};

Reporter::Reporter(Options options) {
  if (options.folder.empty()) return;
  state_ = std::make_unique<State>();
  state_->folder = options.folder;
  state_->metrics.open(options.folder / "metrics.jsonl", std::ios::app);
  state_->events.open(options.folder / "events.jsonl", std::ios::app);
}

Reporter::~Reporter() = default;

void Reporter::begin(const Job& job, const Progress& progress) {
  if (!state_) return;
  State& s = *state_;
  s.steps = job.steps;
  const data::Form& form = job.sets.train->form();
  if (form.target_sizes.size() == 1 && form.classes > 0) {
    s.units_a_sample = form.target_count();
    s.unit = "tokens";
  }
  s.begin = s.line_at = s.metric_at = steady_clock().now();
  s.first_step = progress.step;
  s.board.emplace(s.folder / "tensorboard",
                  progress.step > 0 ? std::optional(progress.step) : std::nullopt);
  std::printf("%s: %" PRId64 " parameters, %" PRId64 " samples, %" PRId64 " steps on %d rank%s\n",
              job.config.kind("model").c_str(), model::parameter_count(*job.model),
              job.sets.train->count(), job.steps, job.group.size(),
              job.group.size() == 1 ? "" : "s");
  if (progress.step > 0) std::printf("going on from step %" PRId64 "\n", progress.step);
  std::fflush(stdout);
  event({{"event", progress.step > 0 ? "resumed" : "began"},
         {"step", progress.step},
         {"ranks", job.group.size()},
         {"job_hash", job.hash}});
}

void Reporter::step(const Progress& progress, const Outcome& outcome) {
  if (!state_) return;
  State& s = *state_;
  s.samples += outcome.samples;
  s.times.data += outcome.times.data;
  s.times.forward += outcome.times.forward;
  s.times.backward += outcome.times.backward;
  s.times.wait += outcome.times.wait;
  s.times.update += outcome.times.update;
  const bool is_last = progress.step == s.steps;
  if (seconds_since(s.metric_at) >= kSecondsBetweenMetrics || progress.step <= 10 || is_last) {
    s.metric_at = steady_clock().now();
    s.write(s.metrics, {{"step", progress.step},
                        {"loss", outcome.loss},
                        {"learning_rate", outcome.rate},
                        {"norm", outcome.norm},
                        {"samples", progress.samples}});
    s.board->scalar("train/loss", outcome.loss, progress.step);
    s.board->scalar("train/learning_rate", outcome.rate, progress.step);
  }
  const double elapsed = seconds_since(s.line_at);
  if (elapsed < kSecondsBetweenLines && s.lines >= kFirstLines && !is_last) return;
  ++s.lines;
  const double total = s.times.total();
  const double rate = static_cast<double>(s.samples * s.units_a_sample) / std::max(total, 1e-9);
  const double a_step = seconds_since(s.begin) / static_cast<double>(progress.step - s.first_step);
  std::printf("step %" PRId64 "/%" PRId64 "  loss %.4f  rate %.2e  %.0f %s/s  data %.0f%%  left %s\n",
              progress.step, s.steps, outcome.loss, outcome.rate, rate, s.unit,
              100 * s.times.data / std::max(total, 1e-9),
              duration_text(a_step * static_cast<double>(s.steps - progress.step)).c_str());
  std::fflush(stdout);
  s.board->scalar("speed/" + std::string(s.unit) + "_per_second", rate, progress.step);
  s.line_at = steady_clock().now();
  s.samples = 0;
  s.times = {};
}

void Reporter::evaluated(const Progress& progress, const Scores& scores) {
  if (!state_) return;
  State& s = *state_;
  Record record{{"step", progress.step}, {"eval_loss", scores.loss()}};
  s.board->scalar("eval/loss", scores.loss(), progress.step);
  std::printf("step %" PRId64 "/%" PRId64 "  evaluation: loss %.4f", progress.step, s.steps,
              scores.loss());
  if (scores.answers() > 0) {
    record.add({"accuracy", scores.accuracy()});
    s.board->scalar("eval/accuracy", scores.accuracy(), progress.step);
    std::printf("  accuracy %.2f%%", 100 * scores.accuracy());
  }
  if (s.units_a_sample > 1) std::printf("  perplexity %.2f", scores.perplexity());
  std::printf("%s\n", progress.best_step == progress.step ? "  (best so far)" : "");
  std::fflush(stdout);
  s.write(s.metrics, record);
}

void Reporter::saved(const Progress& progress, const checkpoint::Saver::Figures& figures) {
  event({{"event", "checkpoint"},
         {"step", progress.step},
         {"seconds_copied", figures.seconds_copied},
         {"seconds_waited", figures.seconds_waited}});
}

void Reporter::event(const Record& what) {
  if (state_) state_->write(state_->events, what);
}

void Reporter::end(const Progress& progress, Ending ending) {
  if (!state_) return;
  const char* how = ending == Ending::Done      ? "done"
                    : ending == Ending::Stopped ? "stopped"
                                                : "no better for a while";
  event({{"event", "ended"}, {"how", how}, {"step", progress.step}});
  state_->board->flush();
  std::printf("%s after %" PRId64 " steps, %s; everything is in %s\n", how, progress.step,
              duration_text(seconds_since(state_->begin)).c_str(), state_->folder.c_str());
  if (ending == Ending::Stopped) {
    std::printf("go on with: trireme train RECIPE --resume --output %s\n", state_->folder.c_str());
  }
  std::fflush(stdout);
}

}  // namespace trireme::train
