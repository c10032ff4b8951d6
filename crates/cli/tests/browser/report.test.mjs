// Pages of `gambeson report` in Chromium. `cargo test` makes the pages and calls this file:
//
//   GAMBESON_PAGES   folder with runs.html, quickstart-like training.html, hostile.html, gallery.html, and for runs.html
//                    analyze.l2.json and analyze.linf.json, the lines of `gambeson analyze --json`
//   GAMBESON_CHROMIUM the browser
//   GAMBESON_SCREENSHOTS folder for screenshots, if they are wanted
//
// By hand: npm install here, then `cargo test --release -p gambeson-cli -- browser`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const folder = process.env.GAMBESON_PAGES;
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: process.env.GAMBESON_CHROMIUM, args: flags });
});
after(() => browser?.close());

// A page with everything that must not happen noted: messages, errors, dialogs, requests beyond the file itself.
async function opened(name, options = {}) {
  const { width = 1280, height = 900, bypassCSP = false, ...rest } = options;
  const context = await browser.newContext({ viewport: { width, height }, bypassCSP, ...rest });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => {});
  const page = await context.newPage();
  page.unwanted = [];
  page.on("console", (message) => page.unwanted.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => page.unwanted.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => page.unwanted.push(`dialog: ${dialog.message()}`) && dialog.dismiss());
  const url = pathToFileURL(join(folder, name)).href;
  page.on("request", (request) => {
    const own = request.url() === url || request.url().startsWith("data:");
    if (!own) page.unwanted.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  return page;
}

async function closed(page) {
  assert.deepEqual(page.unwanted, []);
  await page.context().close();
}

const analysed = (norm) =>
  readFileSync(join(folder, `analyze.${norm}.json`), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

// A share as the page prints it: cut after one place.
const percent = (share) => `${(Math.floor(1000 * share + 1e-9) / 10).toFixed(1)} %`;

const legend = (page) => page.locator(".legend .value").allTextContents();

async function typeRadius(page, text) {
  await page.locator("input.r").fill(text);
  await page.locator("input.r").press("Enter");
}

test("numbers are those of analyze at every radius", async () => {
  const page = await opened("runs.html");
  for (const [at, norm] of ["l2", "linf"].entries()) {
    await page.locator(".switch label").nth(at).click();
    const logs = analysed(norm);
    assert.ok(logs.length >= 2 && logs[0].radii.length > 5);
    for (const [number, radius] of logs[0].radii.entries()) {
      await typeRadius(page, String(radius));
      const expected = logs.map((log) => percent(log.certified_accuracy[number]));
      assert.deepEqual(await legend(page), expected, `${norm} at ${radius}`);
      const counts = await page.locator(".legend .of").allTextContents();
      counts.forEach((text, run) => {
        const [certified, total] = text.split(" of ").map(Number);
        assert.equal(total, logs[run].images);
        assert.equal(
          certified / total,
          logs[run].certified_accuracy[number],
          `${norm} at ${radius}: ${text}`,
        );
      });
    }
    // By class, at the last radius that was typed.
    for (const [run, log] of logs.entries()) {
      const cells = await page.locator(`.bars td[data-run="${run}"] .value`).allTextContents();
      const expected = log.per_class.map(({ certified_accuracy: shares }) => percent(shares.at(-1)));
      assert.deepEqual(cells, expected, `${norm}, classes of run ${run}`);
    }
    // The static table says the same.
    const rows = await page.locator(`.norm[data-norm="${at}"] tbody tr`).all();
    for (const [run, row] of rows.entries()) {
      const cells = (await row.locator("td").allTextContents()).slice(1);
      const headings = await page.locator(`.norm[data-norm="${at}"] thead th`).allTextContents();
      headings.slice(2).forEach((heading, column) => {
        const known = logs[run].radii.indexOf(Number(heading.replace("r = ", "")));
        if (heading.startsWith("r = ") && known >= 0) {
          assert.equal(
            `${cells[column]} %`,
            percent(logs[run].certified_accuracy[known]),
            `${norm} ${heading}`,
          );
        }
      });
    }
  }
  await closed(page);
});

test("the slider moves the numbers, by mouse and by keyboard", async () => {
  const page = await opened("runs.html");
  const slider = page.locator(".slide input");
  const before = await legend(page);
  await slider.focus();
  for (let step = 0; step < 40; step += 1) await page.keyboard.press("ArrowRight");
  const moved = await legend(page);
  assert.notDeepEqual(moved, before);
  const radius = await page.locator("input.r").inputValue();
  assert.equal(await page.locator("summary .r").textContent(), radius);
  assert.match(await slider.getAttribute("aria-valuetext"), new RegExp(`radius ${radius} in .*: .*${moved[0]}`));
  assert.match(
    await page.locator(".norm:not([hidden]) .command code").textContent(),
    new RegExp(`--radii ${radius}\\b`),
  );
  await page.keyboard.press("End");
  assert.deepEqual(new Set(await legend(page)), new Set(["0.0 %"]));
  await page.keyboard.press("Home");
  assert.equal(await page.locator("input.r").inputValue(), "0.000".slice(0, radius.length));
  // A click on the curve chooses its radius; the pointer shows values without choosing.
  const area = page.locator(".norm:not([hidden]) .area").first();
  const box = await area.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  assert.equal(await area.locator(".tip div").count(), before.length);
  const [tipBox, line] = [await area.locator(".tip").boundingBox(), await area.locator(".tip svg").first().boundingBox()];
  assert.ok(line.height < 20 && tipBox.x >= 0 && tipBox.x + tipBox.width <= 1280, "it fits");
  const tip = await area.locator(".tip b").allTextContents();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  assert.deepEqual(await legend(page), tip);
  await closed(page);
});

test("what is no radius is refused, and a fraction is one", async () => {
  const page = await opened("runs.html");
  const shown = await legend(page);
  for (const text of ["", "x", "-1", "1/", "1/0", "1/2/3", "0x10", "Infinity", "1;ls", "$(ls)"]) {
    await typeRadius(page, text);
    assert.equal(await page.locator("input.r").getAttribute("aria-invalid"), "true", text);
    assert.deepEqual(await legend(page), shown, text);
    // Nor does it come to be shown when a run is switched off and on.
    for (const _ of [0, 1]) await page.locator(".legend input[type=checkbox]").first().click();
    assert.deepEqual(await legend(page), shown, text);
    assert.ok(
      !(await page.locator(".norm:not([hidden]) .command code").first().textContent()).includes("ls"),
    );
  }
  await typeRadius(page, "1/4");
  const quarter = await legend(page);
  assert.equal(await page.locator("input.r").getAttribute("aria-invalid"), null);
  await typeRadius(page, "0.25");
  assert.deepEqual(await legend(page), quarter);
  await closed(page);
});

test("runs are switched off everywhere at once", async () => {
  const page = await opened("runs.html");
  const boxes = page.locator(".legend input[type=checkbox]");
  await boxes.first().focus();
  await page.keyboard.press("Space");
  const line = page.locator(".norm:not([hidden]) [data-line='0']").first();
  assert.equal(await line.evaluate((path) => getComputedStyle(path).display), "none");
  assert.equal(await page.locator(".bars td[data-run='0']:visible").count(), 0);
  assert.ok((await page.locator(".bars td[data-run='1']:visible").count()) > 0);
  await page.keyboard.press("Space");
  assert.notEqual(await line.evaluate((path) => getComputedStyle(path).display), "none");
  await closed(page);
});

// What the cards show, in their order.
const cards = (page) =>
  page.locator(".cards li:not([hidden])").evaluateAll((items) =>
    items.map((item) => ({
      index: Number(item.querySelector(".number").textContent),
      label: item.querySelector(".label").textContent,
      // Of the first run, which may abstain.
      radius: Number(item.querySelector(".row").querySelector(".radius")?.textContent ?? 0),
      answer: item.querySelector(".row .answer").textContent,
    })),
  );

test("inputs are sorted and filtered", async () => {
  const page = await opened("runs.html");
  const all = await cards(page);
  assert.ok(all.length >= 20);
  assert.deepEqual(
    all.map((card) => card.index),
    all.map((card) => card.index).toSorted((a, b) => a - b),
  );
  const choose = (name, value) => page.locator(`[data-control="${name}"]`).selectOption(value);
  await choose("sort", "falling");
  const radii = (await cards(page)).map((card) => card.radius);
  assert.deepEqual(
    radii,
    radii.toSorted((a, b) => b - a),
  );
  assert.ok(radii[0] > 0);
  await choose("outcome", "right");
  const right = await cards(page);
  assert.ok(right.length > 0 && right.length < all.length);
  assert.ok(right.every((card) => card.answer === "certified"));
  assert.equal(await page.locator(".count").textContent(), `${right.length} of ${all.length} inputs`);
  await choose("outcome", "all");
  const label = all[0].label;
  await choose("label", { label });
  const labelled = await cards(page);
  assert.deepEqual(
    labelled.map((card) => card.index).toSorted((a, b) => a - b),
    all.filter((card) => card.label === label).map((card) => card.index),
  );
  await choose("label", "all");
  await choose("norm", "1");
  const other = (await cards(page)).map((card) => card.radius);
  assert.notDeepEqual(other, radii);
  assert.ok((await page.locator(".thumbnail").count()) === all.length);
  assert.ok(
    await page.locator(".thumbnail").evaluateAll((images) => images.every((it) => it.naturalWidth > 0)),
  );
  await closed(page);
});

test("an input opens with its counts and the line that checks it, by keyboard", async () => {
  const page = await opened("runs.html");
  const first = page.locator(".cards li").first().locator(".card");
  await first.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  const dialog = page.locator("dialog[open]");
  const index = await page.locator(".cards li").nth(2).locator(".number").textContent();
  assert.match(await dialog.locator("h2").textContent(), new RegExp(`^Input ${index}: `));
  const island = JSON.parse(await page.locator("#data").textContent());
  const input = Object.values(island).find((section) => section.inputs).inputs[2];
  const drawn = input.answers[0].estimation.reduce((sum, count) => sum + count, input.answers[0].others);
  const counts = await dialog.locator(".counts").first().locator("span:nth-child(3n)").allTextContents();
  const shown = counts.map((text) => Number(text.split(" ")[0])).reduce((sum, count) => sum + count, 0);
  assert.equal(shown, drawn);
  const line = await dialog.locator(".command code").first().textContent();
  assert.match(line, new RegExp(`^gambeson check .* --input ${index}$`));
  await dialog.locator(".copy").first().click();
  await dialog.locator(".copy", { hasText: "Copied" }).first().waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), line);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog[open]").count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement.closest("li")?.dataset.input), "2");
  await closed(page);
});

test("training shows its epochs under the pointer", async () => {
  const page = await opened("training.html");
  const area = page.locator(".training .area").first();
  await area.scrollIntoViewIfNeeded();
  const box = await area.boundingBox();
  await page.mouse.move(box.x + box.width - 2, box.y + 20);
  const island = JSON.parse(await page.locator("#data").textContent());
  const { runs } = Object.values(island).find((section) => section.runs?.[0].epochs);
  assert.deepEqual(
    await area.locator(".tip b").allTextContents(),
    runs.map((run) => run.loss.at(-1)),
  );
  await closed(page);
});

test("a slider chooses among pictures", async () => {
  const page = await opened("gallery.html");
  const visible = () => page.locator(".gallery th:visible").allTextContents();
  const all = await visible();
  assert.ok(all.length > 3);
  await page.locator(".gallery .all").uncheck();
  assert.deepEqual(await visible(), [all[0], all[1]]);
  await page.locator(".gallery input[type=range]").focus();
  await page.keyboard.press("ArrowRight");
  assert.deepEqual(await visible(), [all[0], all[2]]);
  assert.equal(await page.locator(".choose output").textContent(), all[2]);
  await closed(page);
});

test("hostile labels and names are texts", async () => {
  // Without its content security policy, so that nothing but escaping stands between a name and the page.
  const page = await opened("hostile.html", { bypassCSP: true });
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await page.locator("script").count(), 2);
  assert.equal(await page.locator("img:not([src^='data:image/png'])").count(), 0);
  await page.locator(".cards .card").first().click();
  await page.keyboard.press("Escape");
  const label = await page.locator(".legend .name").first().textContent();
  assert.match(label, /<script>|<img/);
  await closed(page);
});

test("the page reads without its script", async () => {
  const page = await opened("runs.html", { javaScriptEnabled: false });
  assert.ok((await page.locator(".chart svg path.line").count()) >= 4);
  assert.equal(await page.locator(".norm:visible .chart").count(), 2);
  assert.equal(await page.locator("form:visible, .switch:visible, .slide:visible, input:visible").count(), 0);
  assert.ok((await page.locator(".cards li:visible").count()) >= 20);
  assert.ok((await page.locator("table:visible").count()) >= 4);
  await closed(page);
});

for (const name of ["runs.html", "training.html", "hostile.html", "gallery.html", "bundle.html"]) {
  for (const width of [1280, 390]) {
    for (const colorScheme of ["light", "dark"]) {
      test(`${name} is accessible and fits at ${width} pixels, ${colorScheme}`, async () => {
        const page = await opened(name, { width, colorScheme, bypassCSP: true });
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${overflow} pixels too wide`);
        if (process.env.GAMBESON_SCREENSHOTS) {
          const path = join(process.env.GAMBESON_SCREENSHOTS, `${name}-${width}-${colorScheme}.png`);
          await page.screenshot({ path, fullPage: true });
        }
        await page.addScriptTag({ content: axeSource });
        const check = () => page.evaluate(() => globalThis.axe.run(document));
        const found = [await check()];
        if ((await page.locator(".cards .card").count()) > 0) {
          await page.locator(".cards .card").first().click();
          found.push(await check());
        }
        const serious = found
          .flatMap((result) => result.violations)
          .filter(({ impact }) => ["serious", "critical"].includes(impact))
          .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html)}`);
        assert.deepEqual(serious, []);
        await closed(page);
      });
    }
  }
}
