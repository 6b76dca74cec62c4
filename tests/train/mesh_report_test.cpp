// Goal:   the report of a mesh names the axes, the place and the host of every rank and what each
//         rank holds of every parameter; equal layers share a line. Axes that do not fit are
//         refused as a job refuses them.
// Method: a tiny gpt cut over 2 of 4 ranks, its vocabulary of 5 unevenly; parameters made up, whose
//         layers differ.

#include "trireme/train/mesh_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "tests/train/tiny_job.h"
#include "trireme/testing/code_of.h"

namespace trireme::train {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

MeshReport report_of(const Words& words, std::vector<std::string> hosts) {
  const Kinds kinds = tiny_kinds();
  return mesh_report(tiny_config("gpt", words, kinds), kinds, std::move(hosts));
}

// With one blank between the columns.
std::string squeezed(const MeshReport& report) {
  return std::regex_replace(report.to_text(), std::regex(" +"), " ");
}

TEST(MeshReport, NamesAxesRanksAndLayouts) {
  const MeshReport report = report_of({"parallel.tensor=2"}, {"a", "a", "b", "b"});
  const std::string text = squeezed(report);
  EXPECT_THAT(text, HasSubstr("mesh: data = 2 x tensor = 2\n\nrank data tensor host\n"
                              "0 0 0 a\n1 0 1 a\n2 1 0 b\n3 1 1 b\n"));
  EXPECT_THAT(text, HasSubstr("\ntransformer.wte.weight (5, 8) 96 dim 0 of (5, 8) over tensor\n"));
  EXPECT_THAT(text, HasSubstr("\ntransformer.h.0-1.ln_1.weight (8) 32 replicated\n"));
  EXPECT_THAT(text, HasSubstr("\ntransformer.h.0-1.attn.c_attn.weight (24, 8) 384 dim 1 of (3, 2, "
                              "4, 8) over tensor\n"));
  std::int64_t whole = 0;
  for (const MeshReport::LaidOut& parameter : report.parameters) {
    whole += 4 * parameter.layout.view().count();
  }
  EXPECT_EQ(report.bytes, whole);
  EXPECT_GT(report.bytes_per_rank, whole / 2);
  EXPECT_LT(report.bytes_per_rank, whole * 2 / 3);
}

TEST(MeshReport, SaysWhichStagesHoldAParameter) {
  const MeshReport report =
      report_of({"parallel.pipe=2", "parallel.split=layers"}, {"a", "a", "b", "b"});
  const std::string text = squeezed(report);
  EXPECT_THAT(text, HasSubstr("mesh: pipe = 2 x data = 2\n\nrank pipe data host\n"
                              "0 0 0 a\n1 0 1 a\n2 1 0 b\n3 1 1 b\n"));
  EXPECT_THAT(text, HasSubstr("parameter pipe shape bytes per rank layout\n"));
  EXPECT_THAT(text, HasSubstr("\ntransformer.h.0.ln_1.weight 0 (8) 32 replicated\n"));
  EXPECT_THAT(text, HasSubstr("\ntransformer.h.1.ln_1.weight 1 (8) 32 replicated\n"));
  EXPECT_THAT(text, HasSubstr("\ntransformer.wte.weight 0, 1 (5, 8) 160 replicated\n"))
      << "the head reads it, too";
  EXPECT_LT(report.bytes_per_rank, report.bytes);
}

TEST(MeshReport, OfReplicasListsNoParameters) {
  const std::string text = squeezed(report_of({}, {"a", "b"}));
  EXPECT_THAT(text, HasSubstr("mesh: data = 2\n\nrank data host\n0 0 a\n1 1 b\n"));
  EXPECT_THAT(text, HasSubstr("Every rank is a data-parallel replica"));
  EXPECT_THAT(text, Not(HasSubstr("transformer")));
}

TEST(MeshReport, JoinsOnlyLayersThatAreLaidOutAlike) {
  const mesh::Layout plain(std::vector<std::int64_t>{4});
  const mesh::Layout cut(std::vector<std::int64_t>{4}, {{"tensor", 0}});
  const MeshReport report{.axes = {{"data", 1}, {"tensor", 2}},
                          .hosts = {"a", "a"},
                          .parameters = {{"h.0.w", plain, 16},
                                         {"h.1.w", plain, 16},
                                         {"h.2.w", cut, 8},
                                         {"h.3.w", plain, 16},
                                         {"h.3.b", plain, 16},
                                         {"w", plain, 16}}};
  const std::string text = squeezed(report);
  EXPECT_THAT(text,
              HasSubstr("\nh.0-1,3.w (4) 16 replicated\nh.2.w (4) 8 dim 0 of (4) over tensor\n"
                        "h.3.b (4) 16 replicated\nw (4) 16 replicated\n"));
}

TEST(MeshReport, IsJson) {
  const auto all = nlohmann::json::parse(report_of({"parallel.tensor=2"}, {"a", "b"}).to_json());
  EXPECT_EQ(all.at("axes").at(1).at("name"), "tensor");
  EXPECT_EQ(all.at("ranks").at(1).at("places").at("tensor"), 1);
  EXPECT_EQ(all.at("ranks").at(1).at("host"), "b");
  const auto& first = all.at("parameters").at(0);
  EXPECT_EQ(first.at("name"), "transformer.wte.weight");
  EXPECT_EQ(first.at("shape"), nlohmann::json({5, 8}));
  EXPECT_EQ(first.at("bytes_per_rank"), 96);
}

TEST(MeshReport, RefusesWhatAJobRefuses) {
  const auto code_of = [](const Words& words, std::size_t ranks) {
    return testing::code_of([&] { report_of(words, std::vector<std::string>(ranks, "a")); });
  };
  EXPECT_EQ(code_of({"parallel.tensor=2"}, 3), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of({"parallel.tensor=3"}, 3), ErrorCode::InvalidInput) << "two heads";
  EXPECT_EQ(code_of({"parallel.tensor=2", "model.lora_rank=2"}, 2), ErrorCode::Unsupported);
}

}  // namespace
}  // namespace trireme::train
