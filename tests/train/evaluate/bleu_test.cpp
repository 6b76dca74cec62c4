// Goal:   BLEU is what the paper's definition gives by hand, over one text and over a corpus.
// Method: examples whose runs of words were counted on paper; the paper's own "the the the".

#include "trireme/train/evaluate/bleu.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trireme::train {
namespace {

Bleu scored(const std::string& written, const std::vector<std::string>& references) {
  std::vector<Sentence> all;
  for (const std::string& text : references) all.push_back(split_words(text));
  Bleu bleu;
  bleu.add(split_words(written), all);
  return bleu;
}

TEST(BleuScore, IsTheOneByHand) {
  // In common: the (once) cat sat on mat today; the-cat cat-sat sat-on mat-today; two threes; one
  // four.
  const Bleu bleu = scored("the cat sat on the mat today", {"the cat sat on a mat today now"});
  EXPECT_NEAR(bleu.precision(1), 6.0 / 7, 1e-15);
  EXPECT_NEAR(bleu.precision(2), 4.0 / 6, 1e-15);
  EXPECT_NEAR(bleu.precision(3), 2.0 / 5, 1e-15);
  EXPECT_NEAR(bleu.precision(4), 1.0 / 4, 1e-15);
  EXPECT_NEAR(bleu.brevity_penalty(), std::exp(1 - 8.0 / 7), 1e-15);
  EXPECT_NEAR(bleu.score(), std::exp(-1.0 / 7) * std::pow(2.0 / 35, 0.25), 1e-15);
}

TEST(BleuScore, CountsARunAsOftenAsAReferenceHasIt) {
  const Bleu bleu =
      scored("the the the the the the the", {"the cat is on the mat", "there is a cat on the mat"});
  EXPECT_NEAR(bleu.precision(1), 2.0 / 7, 1e-15);
  EXPECT_EQ(bleu.score(), 0) << "no four words in common";
}

TEST(BleuScore, TakesTheNearestLengthOfReferences) {
  EXPECT_EQ(scored("a b c d", {"a b c d e f g h i", "a b c"}).brevity_penalty(), 1);
  EXPECT_NEAR(scored("a b", {"a b c d e", "a b c"}).brevity_penalty(), std::exp(1 - 3.0 / 2),
              1e-15);
}

TEST(BleuScore, OfACorpusPoolsCountsNotScores) {
  const Sentence whole = split_words("a b c d e");
  const Sentence other = split_words("v w x y z");
  Bleu bleu;
  bleu.add(whole, {&whole, 1});
  EXPECT_EQ(bleu.score(), 1);
  bleu.add(other, {&whole, 1});
  EXPECT_NEAR(bleu.score(), 0.5, 1e-15) << "half of the runs of every length";
  EXPECT_EQ(Bleu().score(), 0);
}

TEST(BleuScore, WordsArePartedByBlanks) {
  EXPECT_EQ(split_words("  to be,\n or\tnot "), (Sentence{"to", "be,", "or", "not"}));
  EXPECT_TRUE(split_words(" \n").empty());
}

}  // namespace
}  // namespace trireme::train
