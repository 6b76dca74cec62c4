#include "trireme/data/registry.h"

#include "trireme/base/check.h"
#include "trireme/data/data_config.h"
#include "trireme/data/source.h"
#include "trireme/data/transform/transform_config.h"
#include "trireme/data/transform/transformed_source.h"

namespace trireme::data {

void Registry::add_sections(config::Schema& schema) const {
  config::Section& section = schema.section("data", "what is trained on");
  for (const Kind& kind : kinds_) kind.declare(section);
  section.fields<DataConfig>().fields<transform::TransformConfig>();
}

Sets Registry::open(const config::Config& config) const {
  const std::string& name = config.kind("data");
  for (const Kind& kind : kinds_) {
    if (kind.name != name) continue;
    const auto& changes = config.get<transform::TransformConfig>("data");
    Sets sets = kind.open(config);
    TRIREME_CHECK(sets.train != nullptr, "data of kind ", name, " has no training set");
    return {.train = transform::transformed(sets.train, changes, transform::Use::Training),
            .test = transform::transformed(sets.test, changes, transform::Use::Evaluation)};
  }
  TRIREME_CHECK(false, "the schema has data of kind ", name, ", the registry has not");
  return {};
}

}  // namespace trireme::data
