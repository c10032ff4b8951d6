// Training under the pointer, and pictures of which a slider chooses one.

function training({ root, data: section }) {
  for (const kind of ["loss", "accuracy"]) {
    Chart.of(root, `${root.dataset.key}/${kind}`)?.hover((value) => {
      const epoch = Math.round(value);
      const runs = section.runs.filter((run) => run.epochs.includes(epoch));
      const text = (run) => run[kind][run.epochs.indexOf(epoch)];
      return {
        value: epoch,
        title: `epoch ${epoch}`,
        rows: runs.map((run) => [run.style, run.label, text(run)]),
        dots: [],
      };
    });
  }
}

function gallery({ root }) {
  const form = root.querySelector(".controls");
  if (!form) return;
  const all = form.querySelector(".all");
  const slider = form.querySelector("input[type=range]");
  const output = form.querySelector("output");
  const show = () => {
    const number = Number(slider.value);
    for (const cell of root.querySelectorAll("[data-column]")) {
      const column = Number(cell.dataset.column);
      cell.hidden = !all.checked && column > 0 && column !== number;
    }
    const name = root.querySelector(`th[data-column="${number}"]`).textContent;
    root.classList.toggle("one", !all.checked);
    form.querySelector(".choose").hidden = all.checked;
    output.textContent = name;
    slider.setAttribute("aria-valuetext", name);
  };
  all.addEventListener("change", show);
  slider.addEventListener("input", show);
  form.hidden = false;
  show();
}

sections("training").forEach(training);
sections("gallery").forEach(gallery);
