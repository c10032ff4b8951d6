// Certified accuracy: a norm, a radius and runs to choose. The slider counts multiples of a round decimal.

function certified({ root, data: section }) {
  const slider = root.querySelector(".slide input");
  const field = root.querySelector("input.r");
  const boxes = [...root.querySelectorAll(".legend input")];
  const charts = section.norms.map((_, at) => Chart.of(root, `${root.dataset.key}/${at}`));
  let norm = 0;
  let radius = 0;
  // The radius as it is written: the last text that was a number.
  let accepted = "";
  let marks = [];

  const text = (multiple, { unit, digits }) => {
    const number = String(multiple * unit).padStart(digits + 1, "0");
    const point = number.length - digits;
    return digits ? `${number.slice(0, point)}.${number.slice(point)}` : number;
  };
  const shown = (run) => boxes[run].checked;

  // The runs that are shown and have radii in the norm, with what they certify at a radius.
  const found = (at) =>
    section.runs.flatMap((run, number) => {
      const curve = section.norms[norm].curves[number];
      return curve && shown(number) ? [{ run, number, ...lookUp(curve.all, at) }] : [];
    });

  function show(asWritten) {
    const { name, commands } = section.norms[norm];
    for (const output of root.querySelectorAll("output.r, summary .r")) output.textContent = asWritten;
    for (const place of root.querySelectorAll(".norm-name")) place.textContent = name;
    section.runs.forEach((_, number) => showRun(number));
    root.querySelectorAll(`.norm[data-norm="${norm}"] .command code`).forEach((code, at) => {
      showLine(code, commands[at].join(asWritten));
    });
    marks.forEach((mark) => mark.remove());
    marks = charts[norm].mark(
      Math.min(radius, charts[norm].high),
      found(radius).map(({ run, percent }) => [run.style, percent]),
    );
    const values = found(radius).map(({ run, percent }) => `${run.label} ${percent} %`);
    slider.setAttribute("aria-valuetext", `radius ${asWritten} in ${name}: ${values.join(", ")}`);
  }

  function showRun(number) {
    const curve = section.norms[norm].curves[number];
    const { percent, count, of } = curve ? lookUp(curve.all, radius) : { of: "" };
    const item = root.querySelector(`.legend [data-run="${number}"]`);
    item.querySelector(".value").textContent = curve ? `${percent} %` : "–";
    item.querySelector(".of").textContent = of;
    item.classList.toggle("off", !shown(number));
    const [now, less] = item.querySelectorAll(".composition i");
    const { right } = section.runs[number];
    if (now && curve) {
      now.style.width = `${(100 * count) / curve.all.total}%`;
      less.style.width = `${(100 * (right - count)) / curve.all.total}%`;
    }
    root.querySelectorAll(`.bars [data-run="${number}"]`).forEach((cell, row) => {
      cell.hidden = !shown(number);
      if (cell.tagName === "TH") return;
      // The first of the cells is the heading of the column.
      const steps = curve?.classes[row - 1];
      const at = steps ? lookUp(steps, radius) : null;
      cell.querySelector(".bar i").style.width = at ? `${at.percent}%` : "0";
      cell.querySelector(".value").textContent = at ? `${at.percent} %` : "–";
      cell.querySelector("small").textContent = at ? at.of : "";
    });
    charts.forEach((chart) => (chart.lines[number].style.display = shown(number) ? "" : "none"));
  }

  // Shows a radius that is a multiple of the slider's unit.
  function choose(multiple) {
    const scale = section.norms[norm];
    const asWritten = text(multiple, scale);
    radius = Number(asWritten);
    slider.max = scale.last;
    slider.value = multiple;
    field.value = asWritten;
    accepted = asWritten;
    field.removeAttribute("aria-invalid");
    show(accepted);
  }

  // Shows a radius that was typed: a decimal, or a fraction of two.
  function type() {
    const [above, below = "1", ...more] = field.value.split("/").map((part) => part.trim());
    const typed = Number(above) / Number(below);
    const decimals = [above, below].every((part) => /^\+?[\d.]+(e[+-]?\d+)?$/i.test(part));
    if (!decimals || more.length || !Number.isFinite(typed))
      return field.setAttribute("aria-invalid", "true");
    field.removeAttribute("aria-invalid");
    radius = typed;
    const { unit, digits, last } = section.norms[norm];
    slider.value = Math.min(last, Math.round((typed * 10 ** digits) / unit));
    accepted = field.value.trim();
    return show(accepted);
  }

  function chooseNorm(at) {
    norm = at;
    for (const part of root.querySelectorAll(".norm")) part.hidden = Number(part.dataset.norm) !== at;
    choose(section.norms[at].start);
  }

  const multiple = (value) => {
    const { unit, digits, last } = section.norms[norm];
    return Math.min(last, Math.max(0, Math.round((value * 10 ** digits) / unit)));
  };
  charts.forEach((chart) => {
    const describe = (value) => {
      const asWritten = text(multiple(value), section.norms[norm]);
      const runs = found(Number(asWritten));
      return {
        value: Number(asWritten),
        title: `radius ${asWritten}`,
        rows: runs.map(({ run, percent }) => [run.style, run.label, `${percent} %`]),
        dots: runs.map(({ run, percent }) => [run.style, percent]),
      };
    };
    chart.hover(describe, (value) => choose(multiple(value)));
  });
  limits(root, section, shown);

  for (const radio of root.querySelectorAll(".switch input")) {
    radio.addEventListener("change", () => chooseNorm(Number(radio.value)));
  }
  boxes.forEach((box) => {
    box.hidden = section.runs.length < 2;
    box.addEventListener("change", () => show(accepted));
  });
  slider.addEventListener("input", () => choose(Number(slider.value)));
  field.addEventListener("change", type);
  field.addEventListener("keydown", (event) => event.key === "Enter" && type());
  root.querySelector(".at output").hidden = true;
  for (const part of [field, slider.parentElement, root.querySelector(".switch")]) {
    if (part) part.hidden = false;
  }
  chooseNorm(0);
}

// The distribution of lower limits, under the pointer.
function limits(root, section, shown) {
  const chart = Chart.of(root, `${root.dataset.key}/limits`);
  const limited = section.runs.flatMap((run, number) => (run.limits ? [{ run, number }] : []));
  chart?.hover((value) => {
    const limit = Number(value.toFixed(3));
    const found = limited
      .filter(({ number }) => shown(number))
      .map(({ run }) => ({ run, percent: lookUp(run.limits, limit).percent }));
    return {
      value: limit,
      title: `p at least ${limit.toFixed(3)}`,
      rows: found.map(({ run, percent }) => [run.style, run.label, `${percent} %`]),
      dots: found.map(({ run, percent }) => [run.style, percent]),
    };
  });
}

sections("certified").forEach(certified);
