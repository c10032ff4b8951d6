"""Which BLAS a program, or this process, loads.

On Debian `apt-get install dsdp` brings the reference BLAS, with which DSDP takes 78 s where it takes 4.4 s with OpenBLAS
(psd, n = 2000, two cores). A comparison with it would flatter gambeson.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

# Words in the name or the folder of a tuned library, once links are followed.
TUNED = ("openblas", "mkl", "blis", "flexiblas", "atlas", "accelerate")
REFERENCE = "reference BLAS"
UNKNOWN = "unknown BLAS"
# A library's file name: libblas.so.3, libopenblasp-r0.3.33.so, libscipy_openblas64_-1a2b.so, libmkl_rt.so.2.
BLAS = re.compile(r"lib[^/]*(?:blas|mkl_rt|blis|atlas)[^/]*\.so[^/]*$")


def name(path):
    """`openblas-pthread` or the like for a tuned library, REFERENCE for a plain one."""
    path = Path(path).resolve()
    # Debian keeps each variant in a folder of its own.
    for part in (path.parent.name, path.name):
        if any(word in part.lower() for word in TUNED):
            return part
    return REFERENCE


def chosen(paths):
    """The name for all BLAS libraries among some files: a tuned one if any, as a plain interface may lead to it."""
    found = [name(path) for path in paths if BLAS.search(path) and "cblas" not in Path(path).name]
    return next((each for each in found if each != REFERENCE), found[0] if found else UNKNOWN)


def of_program(program):
    """By `ldd`; UNKNOWN where that does not tell."""
    try:
        listing = subprocess.run(["ldd", shutil.which(program)], capture_output=True, text=True).stdout
    except OSError:
        return UNKNOWN
    return chosen(re.findall(r"=> (/\S+)", listing))


def of_this_process():
    """Of numpy, scipy and what else is imported; UNKNOWN where the system does not list libraries."""
    try:
        maps = Path("/proc/self/maps").read_text()
    except OSError:
        return UNKNOWN
    return chosen(sorted(set(re.findall(r"(/\S+)$", maps, re.MULTILINE))))


def demand_tuned(peer, found, allow_plain):
    """The BLAS of a peer, for its records. Ends the run where it may be a plain one, unless that is asked for."""
    print(f"{peer} loads {found}", file=sys.stderr)
    if found in (REFERENCE, UNKNOWN) and not allow_plain:
        raise SystemExit(
            f"{peer} loads the {found}; a plain one makes it many times slower: install a tuned one "
            "(apt-get install libopenblas0-pthread), or pass --allow-plain-blas to mark its rows"
        )
    return found
