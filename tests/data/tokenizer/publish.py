"""Regenerates tests/data/tokenizer/published/ with Hugging Face's `tokenizers`: small tokenizers of
each family, and the tokens of difficult texts. Run by hand; the tests read the files it writes.

cases.txt has one line per text: the tokenizer, the bytes of the text in hexadecimal, its tokens.
"""

import json
import pathlib

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers import processors, trainers

HERE = pathlib.Path(__file__).parent / "published"
MARK = "\u2581"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
          r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")

TEXT = """The ship had three rows of oars, and every rower knew the stroke of the one before him.
"We'll be there by dawn," said the captain; they weren't. It's 300 miles, he'd said, or 1,250?
Rowing, rowing, rowing: the rowers rowed, the rower's oar broke, and the others' oars didn't.
Der Rudermeister schlägt den Takt; für größere Schiffe braucht man hundertsiebzig Ruderer.
Le capitaine a dit: « où est-ce que l'équipage a été cette année? » Déjà vu, déjà lu.
Корабль плывёт по морю, и гребцы поют. Τριήρης, τριήρεις. 三段櫂船は速い。 三段櫂船!
    def row(stroke, count=170):
        return [stroke * 2 for rower in range(count)]  # 170 rowers, 2 * 85

The end of the text is the end of the row, and the end of the row is the end.\t\tThe end.
"""

CASES = [
    "", " ", "  ", "a", " a", "  a", "   a  b   ", "\n", "\n\n", "\r\n\r\nx", " \n \n x", "\t\tx",
    "the rower's oars", "The ROWER'S we'LL I'D 'S 'll 're've", "it's 'tis don''t '", "12345 1 12 123",
    " 12345", "x1y22z333", "a.b,c!?...  (x)", "über größere Straße", "Déjà vu", "Корабль плывёт",
    "Τριήρης", "三段櫂船は速い。", "🚣‍♀️ rows 🚣", "e\u0301 cafe\u0301", "a\u00a0b\u3000c\u2009d\u2028e",
    "Ⅷ ½ ² ٣٤ 四", "𝔘𝔫𝔦 𐍈", "<|endoftext|>", "a<|endoftext|>b", "a <|endoftext|> b",
    "<|endoftext|><|endoftext|>", "<|endoftext", "<s>", "a</s>b", "</s>", " </s> x",
    "'ſ 'ſa", "x\u200by", "\x00\x01\x7f", "\u2581 a\u2581b", "#include <vector>\n\tint x = 0;\n",
    "  return [stroke * 2 for rower in range(170)]\n\n\n    pass", "the end.\r\nThe end.\r\n", "!\n\n?",
    " !\r\n x", "aaaaaaaaaaaaaaaaaaaaaaaaa", "rowrowrowrowrow the the the", "ÀÉÎÕÜ àéîõü ß ẞ",
]


def over_bytes(pre_tokenizer, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator([TEXT], trainers.BpeTrainer(
        vocab_size=480, min_frequency=2, show_progress=False, special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def over_characters(pre_tokenizer, normalizer):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer:
        tokenizer.normalizer = normalizer
    octets = [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer.train_from_iterator(TEXT.split("\n"), trainers.BpeTrainer(
        vocab_size=520, min_frequency=2, show_progress=False,
        special_tokens=["<unk>", "<s>", "</s>"] + octets))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)])
    tokenizer.decoder = decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(),
                                           decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    # Bytes are ordinary tokens, as in the published files of Llama.
    plain = json.loads(tokenizer.to_str())
    plain["added_tokens"] = [t for t in plain["added_tokens"] if t["content"] not in octets]
    return Tokenizer.from_str(json.dumps(plain))


def main():
    HERE.mkdir(exist_ok=True)
    (HERE / "text.txt").write_text(TEXT, encoding="utf-8")
    marks = normalizers.Sequence([normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)])
    llama3 = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
                                      pre_tokenizers.ByteLevel(False, use_regex=False)])
    all_ = {
        "gpt2": over_bytes(pre_tokenizers.ByteLevel(add_prefix_space=False)),
        "llama3": over_bytes(llama3, ignore_merges=True),
        "llama2": over_characters(None, marks),
        "mistral": over_characters(pre_tokenizers.Metaspace(MARK, "first", split=True), None),
    }
    lines = []
    for name, tokenizer in all_.items():
        tokenizer.save(str(HERE / f"{name}.json"), pretty=False)
        for text in CASES + [TEXT]:
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            code = text.encode().hex() or "-"
            lines.append(" ".join([name, code] + [str(i) for i in ids]))
    (HERE / "cases.txt").write_text("\n".join(lines) + "\n")
    all_["gpt2"].model.save(str(HERE))


main()
