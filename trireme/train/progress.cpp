#include "trireme/train/progress.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "trireme/base/error.h"

namespace trireme::train {

std::string Progress::to_json() const {
  nlohmann::ordered_json json{{"step", step},
                              {"updates", updates},
                              {"epoch", position.epoch},
                              {"cursor", position.cursor},
                              {"samples", samples},
                              {"loss_scale", loss_scale},
                              {"loss_scale_good_steps", loss_scale_good_steps},
                              {"best_step", best_step},
                              {"evaluations_since_best", evaluations_since_best},
                              {"job_hash", job_hash},
                              {"recipe", recipe}};
  if (!std::isnan(best)) json["best"] = best;
  return json.dump();
}

Progress Progress::from_json(const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    Progress read;
    read.step = json.at("step");
    read.updates = json.at("updates");
    read.position = {.epoch = json.at("epoch"), .cursor = json.at("cursor")};
    read.samples = json.at("samples");
    read.loss_scale = json.at("loss_scale");
    read.loss_scale_good_steps = json.at("loss_scale_good_steps");
    read.best_step = json.at("best_step");
    read.evaluations_since_best = json.at("evaluations_since_best");
    read.job_hash = json.at("job_hash");
    read.recipe = json.at("recipe");
    if (json.contains("best")) read.best = json.at("best");
    return read;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::Corrupt,
                std::string("the checkpoint says nothing about a training: ") + error.what());
  }
}

}  // namespace trireme::train
