#include "trireme/train/report/progress.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "trireme/base/error.h"
#include "trireme/base/text/json_text.h"

namespace trireme::train {
namespace {

// With this limit, sums and products of a few counts, and of epochs and samples, cannot overflow.
constexpr std::int64_t kCountMax = std::int64_t{1} << 60;
constexpr std::int64_t kEpochsMax = std::int64_t{1} << 40;

[[noreturn]] void refuse(const std::string& name, const nlohmann::json& value) {
  throw Error(ErrorCode::Corrupt,
              "the progress of a job cannot have " + name + " = " + value.dump());
}

std::int64_t count_of(const nlohmann::json& value, const char* name,
                      std::int64_t most = kCountMax) {
  const bool is_count =
      value.is_number_unsigned();  // the JSON library's type of numbers that are not negative
  if (!is_count || value.get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
    refuse(name, value);
  }
  return value.get<std::int64_t>();
}

std::int64_t count_in(const nlohmann::json& json, const char* name, std::int64_t most = kCountMax) {
  return count_of(json.at(name), name, most);
}

// -1 if there is no best step.
std::int64_t best_step_in(const nlohmann::json& json, std::int64_t step) {
  return json.at("best_step") == -1 ? -1 : count_in(json, "best_step", step);
}

double amount_in(const nlohmann::json& json, const char* name) {
  const nlohmann::json& value = json.at(name);
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!std::isfinite(number) || number < 0) refuse(name, value);
  return number;
}

std::vector<data::Returned> returned_in(const nlohmann::json& json) {
  std::vector<data::Returned> all;
  for (const nlohmann::json& part : json) {
    const std::int64_t end = count_of(part.at(2), "returned");
    all.push_back({.epoch = count_of(part.at(0), "returned", kEpochsMax),
                   .samples = {.begin = count_of(part.at(1), "returned", end), .end = end}});
  }
  return all;
}

// JSON has no infinities.
nlohmann::ordered_json to_json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double from_json_number(const nlohmann::json& json) {
  if (json.is_number()) return json.get<double>();
  if (!json.is_string()) return std::numeric_limits<double>::quiet_NaN();
  const std::string& name = json.get_ref<const std::string&>();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (name == "inf") return kInfinity;
  if (name == "-inf") return -kInfinity;
  return std::numeric_limits<double>::quiet_NaN();
}

optim::Plateau::State plateau_of(const nlohmann::json& json) {
  return {.factor = amount_in(json, "factor"),
          .best = from_json_number(json.at("best")),
          .bad = count_in(json, "bad"),
          .cooling = count_in(json, "cooling")};
}

PrecisionSwitch::State precision_of(const nlohmann::json& json) {
  return {.mean = from_json_number(json.at("mean")),
          .variance = from_json_number(json.at("variance")),
          .seen = count_in(json, "seen"),
          .float32_until = count_in(json, "float32_until")};
}

}  // namespace

void Progress::forget_best() {
  best = std::numeric_limits<double>::quiet_NaN();
  best_step = -1;
  evaluations_since_best = 0;
  plateau.best = std::numeric_limits<double>::quiet_NaN();
  plateau.bad = 0;
}

std::string Progress::to_json() const {
  nlohmann::ordered_json json{{"step", step},
                              {"updates", updates},
                              {"epoch", position.epoch},
                              {"cursor", position.cursor},
                              {"samples", samples},
                              {"seconds", seconds},
                              {"planned", planned},
                              {"loss_scale", loss_scale},
                              {"loss_scale_good_steps", loss_scale_good_steps},
                              {"metric", metric},
                              {"best", to_json_number(best)},
                              {"best_step", best_step},
                              {"evaluations_since_best", evaluations_since_best},
                              {"plateau",
                               {{"factor", plateau.factor},
                                {"best", to_json_number(plateau.best)},
                                {"bad", plateau.bad},
                                {"cooling", plateau.cooling}}},
                              {"precision",
                               {{"mean", to_json_number(precision.mean)},
                                {"variance", to_json_number(precision.variance)},
                                {"seen", precision.seen},
                                {"float32_until", precision.float32_until}}},
                              {"job_id", job_id},
                              {"job_hash", job_hash},
                              {"recipe", recipe}};
  for (const data::Returned& part : returned) {
    json["returned"].push_back({part.epoch, part.samples.begin, part.samples.end});
  }
  return json.dump();
}

Progress Progress::from_json(const std::string& text) {
  constexpr const char* kNone = "the checkpoint has no valid training progress: ";
  const auto json = parse_json<nlohmann::json>(text);
  if (!json.is_object())
    throw Error(ErrorCode::Corrupt, std::string(kNone) + "it is not a JSON object");
  try {
    Progress read;
    read.step = count_in(json, "step");
    read.updates = count_in(json, "updates", read.step);
    read.position = {.epoch = count_in(json, "epoch", kEpochsMax),
                     .cursor = count_in(json, "cursor")};
    read.samples = count_in(json, "samples");
    if (json.contains("seconds")) read.seconds = amount_in(json, "seconds");
    if (json.contains("planned")) read.planned = count_in(json, "planned");
    read.loss_scale = amount_in(json, "loss_scale");
    read.loss_scale_good_steps = count_in(json, "loss_scale_good_steps");
    read.metric = json.value("metric", "");
    if (json.contains("best")) read.best = from_json_number(json.at("best"));
    read.best_step = best_step_in(json, read.step);
    read.evaluations_since_best =
        static_cast<int>(count_in(json, "evaluations_since_best", std::numeric_limits<int>::max()));
    if (json.contains("plateau")) read.plateau = plateau_of(json.at("plateau"));
    if (json.contains("precision")) read.precision = precision_of(json.at("precision"));
    if (json.contains("returned")) read.returned = returned_in(json.at("returned"));
    read.job_id = json.value("job_id", "");
    read.job_hash = json.at("job_hash").get<std::string>();
    read.recipe = json.at("recipe").get<std::string>();
    return read;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::Corrupt, kNone + json_reason(error.what()));
  }
}

Progress Progress::from_meta(const std::string& meta, std::int64_t step) {
  Progress read = from_json(meta);
  if (read.step == step) return read;
  throw Error(ErrorCode::Corrupt, "its progress is of step " + std::to_string(read.step) +
                                      ", but the checkpoint is of step " + std::to_string(step));
}

}  // namespace trireme::train
