// Goal:   a recovery is reported with the workers that left and joined, and how the interrupted
//         step went on; nothing is reported if no worker did.
// Method: incidents by hand; the events that they leave.

#include "trireme/train/recovery/incident_report.h"

#include <gmock/gmock.h>

#include "tests/train/trainer_fixture.h"
#include "trireme/train/recovery/recovery.h"

namespace trireme::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class IncidentReportTest : public TrainerTest {
 protected:
  IncidentReportTest() { is_reported_ = true; }

  std::string events_of(const Recovery::Incident& incident) {
    const std::string folder = "job" + std::to_string(jobs_++);
    {
      const Job job = open_job(tiny_config("mlp", {}), tiny_kinds());
      Reporter reporter(reporting(folder));
      reporter.begin(job, {});
      report_incident(reporter, incident, 7);
    }
    return said(folder, "events.jsonl");
  }

  int jobs_ = 0;
};

TEST_F(IncidentReportTest, NamesTheWorkersAndTheOutcome) {
  EXPECT_THAT(events_of({.gone = {{.worker = 2, .cause = "killed"}},
                         .how = "run again",
                         .workers = 3,
                         .joined = {4, 5},
                         .micro_batches = 8,
                         .redone = 2}),
              AllOf(HasSubstr("\"event\":\"workers lost\""), HasSubstr("worker 2: killed"),
                    HasSubstr("\"joined_workers\":\"4, 5\""), HasSubstr("\"epoch\":7"),
                    HasSubstr("\"micro_batches_redone\":2")));
  EXPECT_THAT(events_of({.gone = {}, .how = "between two steps", .workers = 2, .joined = {1}}),
              HasSubstr("\"event\":\"workers joined\""));
}

TEST_F(IncidentReportTest, WithoutLeavingAndJoiningThereIsNothingToSay) {
  EXPECT_THAT(events_of({.gone = {}, .how = "between two steps"}),
              ::testing::Not(HasSubstr("workers")));
}

}  // namespace
}  // namespace trireme::train
