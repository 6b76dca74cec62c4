#include "trireme/parallel/strategies.h"

#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/parallel/strategy_conflicts.h"
#include "trireme/parallel/sync_schedule.h"

namespace trireme::parallel {
void Strategies::add_entry(Strategy entry) {
  for (const auto& other : all_) {
    TRIREME_CHECK(other->name != entry.name, "there is a strategy ", entry.name, " already");
  }
  TRIREME_CHECK(!entry.make != !entry.expand, "the strategy ", entry.name,
                " needs either make or expand");
  const auto at = entry.is_default ? all_.begin() : all_.end();
  all_.insert(at, std::make_shared<const Strategy>(std::move(entry)));
}

const Strategy& Strategies::named(std::string_view name) const {
  for (const auto& one : all_) {
    if (one->name == name) return *one;
  }
  throw Error(ErrorCode::InvalidInput, "sync.kind = \"" + std::string(name) +
                                           "\" does not exist; use one of " +
                                           names([](const Strategy&) { return true; }));
}

std::string Strategies::names(const std::function<bool(const Strategy&)>& is_named) const {
  std::string text;
  for (const auto& one : all_) {
    if (one->is_default || !is_named(*one)) continue;
    text += (text.empty() ? "" : ", ") + one->name;
  }
  return text;
}

void Strategies::add_section(config::Schema& schema) const {
  config::Section common(kSyncSection, "");
  common.fields<SyncConfig>();
  config::SectionPart part = common.parts().front();
  // A schedule names strategies, which the struct does not know.
  part.complaints = [strategies = *this, own = part.complaints](const void* config) {
    std::vector<std::string> all = own(config);
    const auto& schedule = static_cast<const SyncConfig*>(config)->schedule;
    const std::string complaint = complaint_of_schedule(schedule, strategies);
    if (!complaint.empty()) all.push_back("schedule: " + complaint);
    return all;
  };
  schema.section(kSyncSection, "how ranks arrive at the same weights").add(std::move(part));
  add_kinds(schema);
  for (config::Conflict& conflict : conflicts_of(*this)) schema.refuse(std::move(conflict));
}

void Strategies::add_kinds(config::Schema& schema) const {
  config::Section& section = schema.section(kSyncSection);
  for (const auto& one : all_) one->declare(section);
}

void Strategies::check(const Strategy& strategy, const SyncOptions& options) const {
  const std::string complaint =
      config::complaint_of(conflicts_of(*this), facts_of(strategy, options));
  if (!complaint.empty()) throw Error(ErrorCode::InvalidInput, complaint);
}

std::string strategies_page(const Strategies& strategies) {
  std::string page =
      "# Synchronization strategies\n\n"
      "Generated from the strategies' own records. `sync.kind` selects one; "
      "[parallel.md](parallel.md)\ndescribes how to choose, and "
      "[own_strategy.md](own_strategy.md) how to add one.\n\n"
      "| sync.kind | what it does |\n|---|---|\n";
  for (const auto& one : strategies.all()) page += "| `" + one->name + "` | " + one->help + " |\n";
  std::string head = "| sync.kind | all ranks commit every step | replicas may differ |";
  std::string rule = "|---|---|---|";
  const std::vector<Need> all_needs = needs();
  for (const Need& need : all_needs) {
    if (need.column == nullptr) continue;
    head += std::string(" ") + need.column + " |";
    rule += "---|";
  }
  page += "\n## What each supports\n\n" + head + "\n" + rule + "\n";
  const auto cell = [](bool is_so) { return is_so ? " yes |" : "  |"; };
  for (const auto& one : strategies.all()) {
    page +=
        "| `" + one->name + "` |" + cell(one->can.commits_every_step) + cell(one->can.has_replicas);
    for (const Need& need : all_needs) {
      if (need.column != nullptr) page += cell(supports(*one, need));
    }
    page += "\n";
  }
  page +=
      "\nStrategies that shard the model use a codec only between hosts, because the ranks of a "
      "host share memory.\n`balance.kind`, `train.fallback_steps` and `parallel.tensor` are also "
      "supported where settings keep replicas from differing (`hierarchical`).\nElastic jobs "
      "support unequal hosts with every strategy that they support, and always shard within "
      "hosts.\n\n## Settings that "
      "cannot be combined\n\n";
  std::string last;
  for (const config::Conflict& conflict : contradictions(strategies)) {
    if (conflict.why != last) page += "- " + conflict.why + ".\n";
    last = conflict.why;
  }
  return page;
}

}  // namespace trireme::parallel
