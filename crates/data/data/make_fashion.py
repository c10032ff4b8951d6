"""Makes the built-in part of Fashion-MNIST from the four files of the whole set.

Usage: make_fashion.py FOLDER, with the IDX files compressed by gzip (Debian: dataset-fashion-mnist).
"""

import gzip
import lzma
import pathlib
import struct
import sys

source, here = pathlib.Path(sys.argv[1]), pathlib.Path(__file__).parent
filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 23}]
for part, count in (("train", 6000), ("t10k", 1000)):
    images = gzip.open(source / f"{part}-images-idx3-ubyte.gz").read()
    labels = gzip.open(source / f"{part}-labels-idx1-ubyte.gz").read()
    assert struct.unpack(">4I", images[:16])[2:] == (28, 28)
    images = struct.pack(">4I", 0x803, count, 28, 28) + images[16 : 16 + 784 * count]
    labels = struct.pack(">2I", 0x801, count) + labels[8 : 8 + count]
    for name, content in (("images-idx3", images), ("labels-idx1", labels)):
        packed = lzma.compress(content, check=lzma.CHECK_CRC32, filters=filters)
        (here / f"fashion-{part}-{name}-ubyte.xz").write_bytes(packed)
