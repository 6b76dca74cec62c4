"""load_jpeg.py FOLDER THREADS BATCH EPOCHS: what bench/data does with its JPEG files, by torchvision
where it works and by Pillow elsewhere, in a DataLoader with so many workers. Prints the peer's name
and the images a second of its best epoch, or exits with 77 where neither is there."""

import pathlib
import random
import sys
import time

import torch

PAD, SIDE = 16, 224


def torchvision_reader():
    import torchvision
    from torchvision.io import ImageReadMode, decode_jpeg, read_file

    def read(path):
        return decode_jpeg(read_file(path), ImageReadMode.RGB)

    return f"torchvision {torchvision.__version__}", read


def pillow_reader():
    import numpy
    import PIL
    from PIL import Image

    def read(path):
        with Image.open(path) as image:
            return torch.from_numpy(numpy.array(image.convert("RGB"))).permute(2, 0, 1)

    return f"Pillow {PIL.__version__}", read


class Pictures(torch.utils.data.Dataset):
    def __init__(self, folder, read):
        self.paths = sorted(str(path) for path in pathlib.Path(folder).rglob("*.jpg"))
        self.read = read

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        image = self.read(self.paths[index])
        top, left = random.randint(0, 2 * PAD), random.randint(0, 2 * PAD)
        image = torch.nn.functional.pad(image, (PAD, PAD, PAD, PAD))
        image = image[:, top : top + SIDE, left : left + SIDE]
        if random.random() < 0.5:
            image = image.flip(2)
        return image.to(torch.float32).div_(255), index


def main():
    folder, threads, batch, epochs = sys.argv[1], *map(int, sys.argv[2:5])
    for reader in (torchvision_reader, pillow_reader):
        try:
            name, read = reader()
            Pictures(folder, read)[0]
            break
        except Exception as error:  # any error means that this reader does not work here
            print(f"{reader.__name__}: {error}", file=sys.stderr)
    else:
        sys.exit(77)
    torch.set_num_threads(1)
    pictures = Pictures(folder, read)
    loader = torch.utils.data.DataLoader(
        pictures, batch, shuffle=True, num_workers=threads, persistent_workers=True
    )
    best = 0.0
    for _ in range(epochs):
        begin = time.perf_counter()
        seen = sum(len(index) for _, index in loader)
        assert seen == len(pictures)
        best = max(best, seen / (time.perf_counter() - begin))
    print(f"{name}: {best:.0f}")


main()
