// Reports a recovery on the screen and as an event.
//
// Thread safety: one thread.

#pragma once

#include "trireme/train/recovery/recovery.h"
#include "trireme/train/report/reporter.h"

namespace trireme::train {

// Reports nothing if no worker left or joined.
void report_incident(Reporter& reporter, const Recovery::Incident& incident, std::uint64_t epoch);

}  // namespace trireme::train
