#include "trireme/train/recovery/incident_report.h"

#include <cstdio>
#include <string>
#include <vector>

namespace trireme::train {
namespace {

// The launcher already shows why a worker failed; `is_brief` omits the cause here.
std::string list_of(const std::vector<cluster::membership::Gone>& gone, bool is_brief) {
  std::string text;
  for (const auto& one : gone) {
    const bool is_shown_elsewhere = is_brief && one.cause.starts_with(kItFailed);
    text += (text.empty() ? "worker " : ", worker ") + std::to_string(one.worker) +
            (one.is_dismissed     ? " was dismissed"
             : is_shown_elsewhere ? " failed"
                                  : ": " + one.cause);
  }
  return text;
}

std::string numbers_of(const std::vector<int>& workers) {
  std::string text;
  for (const int worker : workers) text += (text.empty() ? "" : ", ") + std::to_string(worker);
  return text;
}

// "worker 1 failed; worker 2 joined".
std::string what_happened(const Recovery::Incident& incident) {
  std::string text;
  if (!incident.gone.empty()) text = list_of(incident.gone, /*is_brief=*/true);
  if (incident.joined.empty()) return text;
  return text + (text.empty() ? "" : "; ") +
         (incident.joined.size() == 1 ? "worker " : "workers ") + numbers_of(incident.joined) +
         " joined";
}

// " (12.5 ms, run again, 1 of 4 micro-batches redone)".
std::string how_it_went(const Recovery::Incident& incident) {
  std::string how = incident.how;
  if (incident.redone > 0) {
    how += ", " + std::to_string(incident.redone) + " of " +
           std::to_string(incident.micro_batches) + " micro-batches redone";
  }
  char figures[128];
  std::snprintf(figures, sizeof(figures), " (%.1f ms, %s)", 1e3 * incident.seconds, how.c_str());
  return figures;
}

}  // namespace

void report_incident(Reporter& reporter, const Recovery::Incident& incident, std::uint64_t epoch) {
  if (incident.gone.empty() && incident.joined.empty()) return;
  const char* going = incident.workers == 1 ? " worker goes on" : " workers go on";
  reporter.warn(what_happened(incident) + "; " + std::to_string(incident.workers) + going +
                    how_it_went(incident),
                {{"event", incident.gone.empty() ? "workers joined" : "workers lost"},
                 {"gone", list_of(incident.gone, /*is_brief=*/false)},
                 {"joined", std::ssize(incident.joined)},
                 {"joined_workers", numbers_of(incident.joined)},
                 {"workers", incident.workers},
                 {"epoch", static_cast<std::int64_t>(epoch)},
                 {"how", incident.how},
                 {"micro_batches", incident.micro_batches},
                 {"micro_batches_redone", incident.redone},
                 {"seconds", incident.seconds}});
}

}  // namespace trireme::train
