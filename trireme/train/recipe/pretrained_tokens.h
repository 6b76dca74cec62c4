// A pretrained language model knows what each token id means: training it on other tokens discards
// what it has learned, without any error.
//
// Errors:        expect_pretrained_tokens() throws InvalidInput.
// Thread safety: any thread; it only reads files.

#pragma once

#include "trireme/base/config/config.h"
#include "trireme/data/form.h"

namespace trireme::train {

// Refuses texts whose tokens differ from those of the model that model.load names: the tokenizer in
// its folder, or the vocabulary in the checkpoint of a job. Data of kind tokens have no texts and
// are not compared. Other tokens are allowed if model.load_fresh reinitializes the embedding.
void expect_pretrained_tokens(const config::Config& config, const data::Form& form);

}  // namespace trireme::train
