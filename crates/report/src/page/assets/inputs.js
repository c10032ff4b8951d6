// The inputs: cards that are sorted, filtered and opened. They stand in the page already.

function inputs({ root, data: section }) {
  const list = root.querySelector(".cards");
  const items = [...list.children];
  const count = root.querySelector(".count");
  const control = (name) => root.querySelector(`[data-control="${name}"]`);
  const chosen = (name, otherwise) => control(name)?.value ?? otherwise;
  const className = (number) => section.classes[number] ?? String(number);
  const input = (item) => section.inputs[Number(item.dataset.input)];
  const answer = (item) => input(item).answers[Number(chosen("run", 0))];
  const radius = (item) => Number(answer(item)?.radii[Number(chosen("norm", 0))] ?? -1);

  const orders = {
    index: (a, b) => input(a).index - input(b).index,
    rising: (a, b) => radius(a) - radius(b) || orders.index(a, b),
    falling: (a, b) => radius(b) - radius(a) || orders.index(a, b),
    label: (a, b) => input(a).label - input(b).label || orders.index(a, b),
    class: (a, b) => (answer(a)?.class ?? -1) - (answer(b)?.class ?? -1) || orders.index(a, b),
  };

  function fits(item) {
    const { label, answers } = input(item);
    const wanted = chosen("label", "all");
    if (wanted !== "all" && label !== Number(wanted)) return false;
    const outcome = chosen("outcome", "all");
    if (outcome === "differ") return new Set(answers.map((one) => one?.class ?? null)).size > 1;
    return outcome === "all" || answer(item)?.outcome === outcome;
  }

  // Radii in the norm that is chosen, to three digits as the page prints them: cut, never rounded up.
  function showRadii() {
    const norm = Number(chosen("norm", 0));
    for (const item of items) {
      const lines = item.querySelectorAll(".row");
      input(item).answers.forEach((one, run) => {
        const place = lines[run].querySelector(".radius");
        const text = one?.radii[norm];
        if (place) place.textContent = text === null || text === undefined ? "" : cut(text);
      });
    }
  }

  function arrange() {
    const fitting = items.filter(fits).sort(orders[chosen("sort", "index")]);
    const others = items.filter((item) => !fitting.includes(item));
    others.forEach((item) => (item.hidden = true));
    fitting.forEach((item) => (item.hidden = false));
    list.append(...fitting, ...others);
    const all = items.length;
    count.textContent = fitting.length === all ? `${all} inputs` : `${fitting.length} of ${all} inputs`;
    reach(fitting[0]);
  }

  // One card at a time is in the order of the Tab key; arrows lead to the others.
  function reach(item) {
    items.forEach((other) => other.firstElementChild.setAttribute("tabindex", other === item ? "0" : "-1"));
  }

  function move(item, key) {
    const visible = [...list.children].filter((other) => !other.hidden);
    const columns = visible.filter((other) => other.offsetTop === visible[0].offsetTop).length;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
    const at = visible.indexOf(item);
    const to = { Home: 0, End: visible.length - 1 }[key] ?? at + steps[key];
    if (!visible[to]) return;
    reach(visible[to]);
    visible[to].firstElementChild.focus();
  }

  for (const item of items) {
    const card = item.firstElementChild;
    card.setAttribute("role", "button");
    card.setAttribute("aria-haspopup", "dialog");
    card.addEventListener("click", () => {
      reach(item);
      open(section, input(item), card.querySelector("img"), className);
    });
    card.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") card.click();
      else if (/^(Arrow|Home|End)/.test(event.key)) move(item, event.key);
      else return;
      event.preventDefault();
    });
  }
  for (const select of root.querySelectorAll("[data-control]")) {
    select.addEventListener("change", () => {
      if (select.dataset.control === "norm") showRadii();
      arrange();
    });
  }
  root.querySelector(".controls").hidden = false;
  reach(items[0]);
}

// A decimal to three significant digits, cut.
function cut(text) {
  const [digits, exponent] = text.split("e");
  const first = digits.search(/[1-9]/);
  if (first < 0) return text;
  const point = digits.indexOf(".");
  const end = first + 3 + (point > first && point < first + 3 ? 1 : 0);
  const kept = point < 0 || end <= point ? digits : digits.slice(0, end);
  return exponent === undefined ? kept : `${kept}e${exponent}`;
}

// What is known about one input.
function open(section, input, picture, className) {
  const dialog = document.getElementById("details");
  const close = element("button", { type: "button" }, "Close");
  close.addEventListener("click", () => dialog.close());
  const label = input.label === null ? "" : `: ${className(input.label)}`;
  const top = element("div", { class: "top" });
  if (picture) top.append(element("img", { src: picture.src, alt: `Input ${input.index}` }));
  top.append(element("h2", { id: "details-title" }, `Input ${input.index}${label}`), close);
  dialog.replaceChildren(top);
  input.answers.forEach((answer, at) => {
    const run = section.runs[at];
    dialog.append(element("h3", {}, swatch(run.style), ` ${run.label}`));
    if (!answer) return dialog.append(element("p", {}, "No record."));
    dialog.append(element("p", {}, words(section, answer, className)));
    if (answer.estimation) dialog.append(counts(answer, run.style, className));
    if (run.command) {
      dialog.append(element("p", { class: "note" }, "Draw it again and compare the counts:"));
      dialog.append(commandLine(run.command.join(input.index)));
    }
    return undefined;
  });
  dialog.showModal();
}

// An answer as a sentence.
function words(section, answer, className) {
  const others = answer.others_limit === null ? "" : `, any other class one of at most ${answer.others_limit}`;
  const limit =
    answer.limit === null
      ? ""
      : ` Under noise, the class has a probability of at least ${answer.limit}${others}.`;
  if (answer.class === null) return `Not certified: the smoothed classifier abstains.${limit}`;
  const radii = section.norms.flatMap((norm, at) =>
    answer.radii[at] === null ? [] : [`${answer.radii[at]} in ${norm}`],
  );
  const wrong = answer.outcome === "wrong" ? ", which is not its label," : "";
  return `Certified as ${className(answer.class)}${wrong} within a radius of ${radii.join(", ")}.${limit}`;
}

// How often the network answered with each class under noise.
function counts(answer, style, className) {
  const drawn = answer.estimation.reduce((sum, count) => sum + count, answer.others);
  const rows = answer.estimation
    .map((count, number) => [className(number), count, answer.selection[number]])
    .concat(answer.others ? [["no class", answer.others, 0]] : [])
    .filter(([, count, first]) => count + first > 0)
    .sort(([, a], [, b]) => b - a);
  const table = element("div", { class: "counts" });
  for (const [name, count, first] of rows) {
    const part = element("i");
    part.style.width = `${(100 * count) / drawn}%`;
    table.append(
      element("span", {}, name),
      element("span", { class: `bar ${styleClass(style)}` }, part),
      element("span", {}, `${count} (+ ${first})`),
    );
  }
  const note = `Answers in ${drawn} draws, and in brackets in the draws before that chose the class.`;
  return element("div", {}, table, element("p", { class: "note" }, note));
}

sections("inputs").forEach(inputs);
