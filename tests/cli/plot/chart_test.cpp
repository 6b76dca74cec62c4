// Goal:   a job's metrics are plotted as images that a browser can show.
// Method: handmade round numbers; the real command on a small metrics file with an incomplete line.

#include "trireme/cli/plot/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cli/commands.h"

namespace trireme::cli::plot {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ChartTicks, AreRoundNumbers) {
  EXPECT_THAT(ticks(0, 10, 6), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(ticks(-1.5, 1.4, 4), ElementsAre(-1, 0, 1));
  EXPECT_THAT(ticks(300, 900, 8), ElementsAre(300, 400, 500, 600, 700, 800, 900));
}

TEST(Charts, ShowFiniteValuesOnly) {
  EXPECT_EQ(curves_svg("x", {}), "");
  EXPECT_EQ(curves_svg("x", {{"a", {{1, std::nan("")}}}}), "");
  const std::string svg = curves_svg("a < b", {{"one", {{0, 0}, {1, INFINITY}, {2, 4}}}});
  EXPECT_THAT(svg, AllOf(HasSubstr("a &lt; b"), HasSubstr("80.0,375.0 700.0,40.0 "),
                         Not(HasSubstr("inf")), HasSubstr("</svg>")));
  EXPECT_THAT(curves_svg("x", {{"one", {{3, 7}}}}), HasSubstr("<circle"));
  EXPECT_THAT(table_svg("x", {.names = {"a", "b"}, .counts = {3, 1, 0, 4}}),
              AllOf(HasSubstr("fill-opacity=\"0.750\""), HasSubstr(">4</text>")));
}

// A colour of a text or of the background, without the other, would be unreadable on some pages.
TEST(Charts, AreReadableOnLightAndDarkPages) {
  for (const std::string& svg : {curves_svg("x", {{"one", {{0, 0}, {2, 4}}}}),
                                 table_svg("x", {.names = {"a", "b"}, .counts = {3, 1, 0, 4}})}) {
    EXPECT_THAT(svg,
                AllOf(HasSubstr("prefers-color-scheme: dark"), HasSubstr("<rect class=\"back\""),
                      HasSubstr("class=\"grid\""), Not(HasSubstr("#333\""))));
  }
}

TEST(Charts, SupportALogarithmicAxis) {
  const std::string svg = curves_svg("x", {{"one", {{10, 0}, {100, 1}, {1000, 2}, {0, 5}}}},
                                     {.name = "Mbit/s", .is_logarithmic = true});
  EXPECT_THAT(svg, AllOf(HasSubstr("80.0,375.0 390.0,207.5 700.0,40.0 "), HasSubstr(">1000</text>"),
                         HasSubstr("Mbit/s")));
}

TEST(PlotCommand, PlotsSpeedsByBandwidth) {
  const TemporaryFolder folder("plot");
  const std::string speed =
      R"("by": "trireme", "sync": "all_reduce", "codec": "int4", "unit": "tokens", )";
  const std::string lines = "{" + speed + R"("wire": 1e9, "units_per_second": 400, "verified": true}
{)" + speed + R"("wire": 1e8, "units_per_second": 310, "verified": true}
{)" + speed + R"("wire": 0.0, "units_per_second": 300, "verified": true}
{)" + speed + R"("wire": 1e9, "units_per_second": 900, "verified": false}
)";
  const auto file = folder.path() / "wires.jsonl";
  write_file_atomically(file, lines);
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(plot_command().run({file.string()}), 0);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("wire.svg"));
  EXPECT_THAT(read_file(folder.path() / "wire.svg"),
              AllOf(HasSubstr("tokens a second"), HasSubstr("trireme all_reduce, int4"),
                    HasSubstr("80.0,375.0 700.0,40.0 \"")));
  write_file_atomically(file, "nothing\n");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(plot_command().run({file.string()}), 2);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("--wire"));
}

TEST(PlotCommand, WritesAnImageForEachExistingMetric) {
  const TemporaryFolder folder("plot");
  write_file_atomically(folder.path() / "metrics.jsonl",
                        "{\"step\": 1, \"loss\": 3.5}\n{\"step\": 2, \"eval_loss\": 3}\n"
                        "{\"step\": 2, \"loss\": 2.5}\n{\"step\": 3, \"lo");
  write_file_atomically(folder.path() / "evaluation.json",
                        "{\"classes\": [\"a\", \"b\"], \"matrix\": [1, 2, 3, 4]}");
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(plot_command().run({folder.path().string()}), 0);
  const std::string out = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(out, AllOf(HasSubstr("loss.svg"), HasSubstr("confusion.svg"),
                         Not(HasSubstr("accuracy.svg"))));
  EXPECT_THAT(read_file(folder.path() / "plots/loss.svg"),
              AllOf(HasSubstr("training"), HasSubstr("evaluation")));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(plot_command().run({"/nowhere"}), 2);
  ::testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace trireme::cli::plot
