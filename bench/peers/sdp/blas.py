"""Which BLAS a program loads.

On Debian `apt-get install dsdp` brings the reference BLAS, with which DSDP takes 78 s where it takes 4.4 s with OpenBLAS
(psd, n = 2000, two cores). A comparison with it would flatter gambeson.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

# Words in the path of a tuned library, once links are followed.
TUNED = ("openblas", "mkl", "blis", "atlas")
REFERENCE = "reference BLAS"


def loaded_by(program):
    """`openblas-pthread` or the like; REFERENCE for a plain library; None where no shared BLAS is loaded."""
    listing = subprocess.run(["ldd", shutil.which(program)], capture_output=True, text=True).stdout
    for name, path in re.findall(r"^\s*(lib\S*(?:blas|mkl_rt|blis|atlas)\S*) => (\S+)", listing, re.MULTILINE):
        resolved = Path(path).resolve()
        if any(word in str(resolved) for word in TUNED):
            # Debian keeps each variant in a folder of its own.
            return resolved.parent.name if any(word in resolved.parent.name for word in TUNED) else resolved.name
        return REFERENCE
    return None


def demand_tuned(program, allow_plain):
    """The BLAS of a peer, for its records. Ends the run where it is the reference one, unless that is asked for."""
    found = loaded_by(program)
    print(f"{program} loads {found or 'no shared BLAS'}", file=sys.stderr)
    if found == REFERENCE and not allow_plain:
        raise SystemExit(
            f"{program} loads the reference BLAS, which makes it many times slower: install a tuned one "
            "(apt-get install libopenblas0-pthread), or pass --allow-plain-blas to have its rows marked"
        )
    return found
