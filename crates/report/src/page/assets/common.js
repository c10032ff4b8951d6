// What all sections share: the data of the page, elements, lines to copy, and what moves over a chart.
//
// The script changes what is shown and computes nothing that is proven: shares, counts, radii and limits stand in the data
// as they are printed, and are looked up.

const data = JSON.parse(document.getElementById("data").textContent);

// An element; texts are never read as markup.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const styleClass = (style) => `c${style % 7} d${style % 4}`;

function swatch(style) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  for (const [name, value] of [
    ["class", "swatch"],
    ["viewBox", "0 0 30 8"],
    ["aria-hidden", "true"],
  ]) {
    svg.setAttribute(name, value);
  }
  path.setAttribute("class", `line ${styleClass(style)}`);
  path.setAttribute("d", "M1 4H29");
  svg.append(path);
  return svg;
}

// The sections of a kind, each with its data.
function sections(part) {
  const found = document.querySelectorAll(`[data-part="${part}"]`);
  return [...found].map((root) => ({ root, data: data[root.dataset.key] }));
}

// Puts a text on the clipboard; where that is not allowed, selects it.
async function copy(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    getSelection().selectAllChildren(shown);
    return document.execCommand("copy");
  }
}

// A button that copies a line for a shell.
function copyButton(line) {
  const button = element("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", async () => {
    const code = line.querySelector("code");
    const copied = await copy(code.textContent, code);
    button.textContent = copied ? "Copied" : "Selected";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return button;
}

// Puts a line for a shell into an element, its words kept whole.
function showLine(code, text) {
  const words = text.split(" ").map((word) => element("span", {}, word));
  code.replaceChildren(...words.flatMap((word, at) => (at ? [" ", word] : [word])));
}

function commandLine(text) {
  const line = element("pre", { class: "command", tabindex: "0" }, element("code"));
  showLine(line.firstChild, text);
  line.append(copyButton(line));
  return line;
}

for (const line of document.querySelectorAll(".command")) line.append(copyButton(line));

// A chart as it is drawn: an axis from `low` to `high` over the width of its area.
class Chart {
  constructor(figure) {
    this.area = figure.querySelector(".area");
    this.low = Number(figure.dataset.low);
    this.high = Number(figure.dataset.high);
    this.lines = [...figure.querySelectorAll("[data-line]")];
  }

  static of(root, key) {
    const figures = [...root.querySelectorAll(".chart")];
    const figure = figures.find((figure) => figure.dataset.chart === key);
    return figure ? new Chart(figure) : null;
  }

  percent(value) {
    return (100 * (value - this.low)) / (this.high - this.low);
  }

  // What stands under a pointer.
  value(event) {
    const box = this.area.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    return this.low + share * (this.high - this.low);
  }

  // A vertical line with a dot on each of some lines: [style, percentage].
  mark(value, dots, faint) {
    const left = `${this.percent(value)}%`;
    const cursor = element("div", { class: faint ? "cursor faint" : "cursor" });
    cursor.style.left = left;
    const made = dots.map(([style, percent]) => {
      const dot = element("i", { class: `dot ${styleClass(style)}` });
      dot.style.left = left;
      dot.style.bottom = `calc(${percent}% - 5px)`;
      return dot;
    });
    this.area.append(cursor, ...made);
    return [cursor, ...made];
  }

  // Shows what `describe` says of the value under the pointer: {value, title, rows: [style, label, text], dots}.
  hover(describe, chosen) {
    let shown = [];
    const clear = () => {
      shown.forEach((item) => item.remove());
      shown = [];
    };
    this.area.addEventListener("pointermove", (event) => {
      clear();
      const found = describe(this.value(event));
      const rows = found.rows.map(([style, label, text]) =>
        element("div", {}, swatch(style), element("span", {}, label), element("b", {}, text)),
      );
      const tip = element(
        "div",
        { class: "tip", "aria-hidden": "true" },
        element("p", {}, found.title),
        ...rows,
      );
      const at = this.percent(found.value);
      tip.style[at > 50 ? "right" : "left"] = `calc(${at > 50 ? 100 - at : at}% + 0.8rem)`;
      this.area.append(tip);
      shown = [tip, ...this.mark(found.value, found.dots, true)];
    });
    this.area.addEventListener("pointerleave", clear);
    if (chosen) this.area.addEventListener("click", (event) => chosen(this.value(event)));
  }
}

// The number of the step that holds at a value: the first whose value is not below it; -1 beyond the last.
function stepAt(steps, value) {
  let [low, high] = [0, steps.values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps.values[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low < steps.values.length ? low : -1;
}

// What is certified at a value: the percentage as printed, and how many of how many.
function lookUp(steps, value) {
  const at = stepAt(steps, value);
  const count = at < 0 ? 0 : steps.counts?.[at];
  return {
    percent: at < 0 ? "0.0" : steps.percent[at],
    count,
    of: steps.total === null ? "" : `${count} of ${steps.total}`,
  };
}
