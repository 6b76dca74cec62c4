#include "trireme/train/recovery/job_state.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "trireme/base/error.h"

namespace trireme::train {

std::string JobState::to_json() const {
  return nlohmann::json{{"progress", progress.to_json()},
                        {"attended_at", attended_at},
                        {"evaluated_at", evaluated_at},
                        {"saved_at", saved_at},
                        {"score", score ? nlohmann::json(*score) : nlohmann::json()},
                        {"is_score_saved", is_score_saved},
                        {"is_open", is_open},
                        {"is_stopping", is_stopping},
                        // JSON has no NaN and no infinity, so a flag tells whether there is a loss.
                        {"is_broken", broken_loss.has_value()},
                        {"broken_loss", broken_loss.value_or(0)},
                        {"not_finite", not_finite},
                        {"is_repeated", next.is_repeated},
                        {"assignment", next.assignment},
                        {"micro_batches", next.micro_batches},
                        {"redone", next.redone},
                        {"owners", next.owners},
                        {"weights", next.weights},
                        {"peak_flops", peak_flops},
                        {"samples", data.samples},
                        {"learned", data.learned}}
      .dump();
}

JobState JobState::from_json(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  JobState job_state{.progress = Progress::from_json(json.at("progress").get<std::string>())};
  json.at("attended_at").get_to(job_state.attended_at);
  json.at("evaluated_at").get_to(job_state.evaluated_at);
  json.at("saved_at").get_to(job_state.saved_at);
  if (!json.at("score").is_null()) job_state.score = json.at("score").get<double>();
  json.at("is_score_saved").get_to(job_state.is_score_saved);
  json.at("is_open").get_to(job_state.is_open);
  json.at("is_stopping").get_to(job_state.is_stopping);
  if (json.at("is_broken").get<bool>()) {
    const auto& loss = json.at("broken_loss");
    job_state.broken_loss = loss.is_null() ? std::nan("") : loss.get<double>();
  }
  json.at("not_finite").get_to(job_state.not_finite);
  json.at("is_repeated").get_to(job_state.next.is_repeated);
  json.at("assignment").get_to(job_state.next.assignment);
  json.at("micro_batches").get_to(job_state.next.micro_batches);
  json.at("redone").get_to(job_state.next.redone);
  json.at("owners").get_to(job_state.next.owners);
  json.at("weights").get_to(job_state.next.weights);
  json.at("peak_flops").get_to(job_state.peak_flops);
  json.at("samples").get_to(job_state.data.samples);
  json.at("learned").get_to(job_state.data.learned);
  return job_state;
}

void JobState::expect_steps_of(const JobState& all, std::int64_t source) const {
  if (!all.is_open || all.progress.step == progress.step) return;
  throw Error(ErrorCode::Mismatch, "this worker is at step " + std::to_string(progress.step) +
                                       ", but rank " + std::to_string(source) + " is at step " +
                                       std::to_string(all.progress.step));
}

}  // namespace trireme::train
