#include "trireme/train/report/progress.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/text/json_text.h"

namespace trireme::train {
namespace {

constexpr const char* kDataKey = "data";

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
  return {.factor = json.at("factor"),
          .best = from_json_number(json.at("best")),
          .bad = json.at("bad"),
          .cooling = json.at("cooling")};
}

PrecisionSwitch::State precision_of(const nlohmann::json& json) {
  return {.mean = from_json_number(json.at("mean")),
          .variance = from_json_number(json.at("variance")),
          .seen = json.at("seen"),
          .float32_until = json.at("float32_until")};
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

std::string meta_of(const Progress& progress, const std::string& preprocessing) {
  std::string meta = progress.to_json();
  TRIREME_CHECK(meta.ends_with('}'), "a progress is a JSON object");
  meta.pop_back();
  return meta + ",\"" + kDataKey + "\":" + preprocessing + "}";
}

std::optional<data::Preprocessing> preprocessing_in(const std::string& meta) {
  const auto json = nlohmann::json::parse(meta, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains(kDataKey)) return std::nullopt;
  return data::Preprocessing::from_json(json.at(kDataKey).dump());
}

Progress Progress::from_json(const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    Progress read;
    read.step = json.at("step");
    read.updates = json.at("updates");
    read.position = {.epoch = json.at("epoch"), .cursor = json.at("cursor")};
    read.samples = json.at("samples");
    read.seconds = json.value("seconds", 0.0);
    read.planned = json.value("planned", std::int64_t{0});
    read.loss_scale = json.at("loss_scale");
    read.loss_scale_good_steps = json.at("loss_scale_good_steps");
    read.metric = json.value("metric", "");
    if (json.contains("best")) read.best = from_json_number(json.at("best"));
    read.best_step = json.at("best_step");
    read.evaluations_since_best = json.at("evaluations_since_best");
    if (json.contains("plateau")) read.plateau = plateau_of(json.at("plateau"));
    if (json.contains("precision")) read.precision = precision_of(json.at("precision"));
    for (const auto& part : json.value("returned", nlohmann::json::array())) {
      read.returned.push_back(
          {.epoch = part.at(0), .samples = {.begin = part.at(1), .end = part.at(2)}});
    }
    read.job_id = json.value("job_id", "");
    read.job_hash = json.at("job_hash");
    read.recipe = json.at("recipe");
    return read;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::Corrupt, std::string("the checkpoint says nothing about a training: ") +
                                        json_reason(error.what()));
  }
}

}  // namespace trireme::train
