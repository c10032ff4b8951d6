"""What the scripts of the folders beside it share: records are written first, tables are functions of them."""

import json
from pathlib import Path


def add_arguments(parser, out):
    parser.add_argument("--out", type=Path, default=Path(out))
    parser.add_argument("--render-only", action="store_true", help="write the table anew from --out")


def keep(options, records):
    """Writes records, one by one as they come; the file is whole or not there."""
    options.out.parent.mkdir(parents=True, exist_ok=True)
    temporary = options.out.with_suffix(".tmp")
    with open(temporary, "w") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")
            file.flush()
    temporary.rename(options.out)


def render(options, table):
    """Writes the table of the records, and prints it."""
    rendered = table([json.loads(line) for line in options.out.read_text().splitlines()])
    temporary = options.out.with_suffix(".md.tmp")
    temporary.write_text(rendered)
    temporary.rename(options.out.with_suffix(".md"))
    print(rendered)
