#include "trireme/train/report/checkpoint_meta.h"

#include <nlohmann/json.hpp>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/text/json_text.h"

namespace trireme::train {
namespace {

constexpr const char* kDataKey = "data";

}  // namespace

std::string meta_of(const Progress& progress, const std::string& preprocessing) {
  std::string meta = progress.to_json();
  TRIREME_CHECK(meta.ends_with('}'), "the progress must be a JSON object");
  meta.pop_back();
  return meta + ",\"" + kDataKey + "\":" + preprocessing + "}";
}

std::optional<data::Preprocessing> preprocessing_in(const std::string& meta) {
  const auto json = parse_json<nlohmann::json>(meta);
  if (!json.is_object() || !json.contains(kDataKey)) return std::nullopt;
  return data::Preprocessing::from_json(json.at(kDataKey).dump());
}

Progress progress_in(const checkpoint::Checkpoint& from) {
  try {
    return Progress::from_meta(from.meta(), from.step());
  } catch (const Error& error) {
    throw Error(error.code(), from.path().string() + ": " + error.message());
  }
}

void check_job_meta(const std::string& meta, std::int64_t step) {
  Progress::from_meta(meta, step);
  preprocessing_in(meta);
}

}  // namespace trireme::train
