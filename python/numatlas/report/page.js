// What all figures need: reading embedded numbers, themes, raw numbers, when to draw.
const root = document.documentElement;
const say = (error) => { root.dataset.error = String((error && error.stack) || error); };
window.addEventListener("error", (event) => say(event.error || event.message));
window.addEventListener("unhandledrejection", (event) => say(event.reason));

function bytesOf(base64) {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
  return bytes;
}
async function unpacked(element) {
  if (!("packed" in element.dataset)) return element.textContent;
  const stream = new Blob([bytesOf(element.textContent)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

// The value of a script element; read once.
const known = new Map();
function numbersOf(id) {
  if (!known.has(id)) known.set(id, unpacked(document.getElementById(id)).then(JSON.parse));
  return known.get(id);
}

let plotlyLoading = null;
function plotlyReady() {
  plotlyLoading ??= unpacked(document.getElementById("plotly")).then((text) => {
    const script = document.createElement("script");
    script.textContent = text;
    document.head.append(script);
  });
  return plotlyLoading;
}

const shade = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

// As numatlas.units.number_text.
function numberText(value, digits = 4) {
  if (value === null || value === undefined) return "\u2013";
  if (value === 0) return "0";
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(places, 6));
}
function sizeText(size) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (size >= 1024 && unit < 3) { size /= 1024; unit += 1; }
  return `${Number(size.toPrecision(4))}${units[unit]}`;
}

// ---- Raw numbers: the table of a figure as text
function cellsOf(column, rows) {
  if ("same" in column) return Array(rows).fill(column.same);
  return column.words ? column.codes.map((code) => column.words[code]) : column.values;
}
function quoted(value, separator) {
  const text = value === null ? "" : String(value);
  if (separator === "\t") return text.replace(/[\t\r\n]+/g, " ");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
function textOf(table, separator) {
  const columns = table.columns.map((column) => cellsOf(column, table.rows));
  const lines = [table.columns.map((column) => quoted(column.name, separator)).join(separator)];
  for (let row = 0; row < table.rows; row += 1)
    lines.push(columns.map((column) => quoted(column[row], separator)).join(separator));
  return lines.join("\n") + "\n";
}
function offer(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // not allowed, or no such thing for a file
    const area = make("textarea", { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
function answered(button, words) {
  const before = button.textContent;
  button.textContent = words;
  setTimeout(() => { button.textContent = before; }, 1500);
}
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-table]");
  if (!button) return;
  const table = await numbersOf(button.dataset.table);
  if (button.className === "copy") {
    await copied(textOf(table, "\t"));
    answered(button, `copied ${table.rows} rows`);
  } else {
    offer(textOf(table, ","), `${button.closest(".figure").id}.csv`);
  }
});

const MOST_LINES = 2000;  // of the raw numbers on the page; the download has all
async function fillRaw(details) {
  const lines = textOf(await numbersOf(details.dataset.table), ",").split("\n");
  const more = lines.length - 1 - MOST_LINES;
  details.querySelector("pre").textContent =
    more > 0 ? `${lines.slice(0, MOST_LINES).join("\n")}\n... ${more} more lines: download` : lines.join("\n");
}
document.addEventListener("toggle", (event) => {
  if (event.target.matches?.("details.raw") && event.target.open) fillRaw(event.target).catch(say);
}, true);
// A link to #raw-FIGURE opens its numbers, one to a warning the list that has it.
function followHash() {
  const id = decodeURIComponent(location.hash.slice(1));
  const target = document.getElementById(id);
  if (!target) return;
  const details = target.matches("details.raw") ? target : target.closest("details.more");
  if (details && !details.open) {
    details.open = true;
    target.scrollIntoView();
  }
}

// ---- Large heat maps: the cell under the pointer, and all numbers on demand
function cellWords(map, row, column) {
  const value = map.values[row][column];
  const where = `${map.row_label} ${map.rows[row]}, ${map.column_label} ${map.columns[column]}: `;
  if (value === null) return `${where}not measured`;
  const low = map.low[row]?.[column] ?? null;
  const spread = low === null ? "" : ` (${numberText(low)} to ${numberText(map.high[row][column])})`;
  return `${where}${numberText(value)} ${map.unit}${spread}`;
}
for (const box of document.querySelectorAll("[data-matrix]")) {
  const image = box.querySelector("img");
  const words = box.querySelector(".under-pointer");
  image.addEventListener("pointermove", async (event) => {
    const map = await numbersOf(box.dataset.matrix);
    const place = image.getBoundingClientRect();
    const at = (part, count) => Math.min(count - 1, Math.max(0, Math.floor(part * count)));
    const row = at((event.clientY - place.top) / place.height, map.rows.length);
    const column = at((event.clientX - place.left) / place.width, map.columns.length);
    words.textContent = cellWords(map, row, column);
  });
  box.querySelector(".show-cells").addEventListener("click", async (event) => {
    const map = await numbersOf(box.dataset.matrix);
    const head = make("tr", {}, make("th", {}), ...map.columns.map((name) => make("th", { textContent: name })));
    const rows = map.rows.map((name, row) => make("tr", {}, make("th", { textContent: name }),
      ...map.values[row].map((value, column) =>
        make("td", { textContent: numberText(value, 3), title: cellWords(map, row, column) }))));
    box.querySelector(".table-here").replaceChildren(make("table", {}, head, ...rows));
    event.target.remove();
  });
}

// ---- When to draw: what is in view first, the rest when there is time, all before printing
const drawers = new Map();  // element -> function that draws it (again)
const drawn = new Set();
const waiting = new Set();
const PAPER_WIDTH = 660;  // of a plot, in CSS pixels: A4 less its margins
let paper = false;

const widths = new WeakMap();  // as drawn
function draw(element) {
  drawn.add(element);
  widths.set(element, element.clientWidth);
  drawers.get(element)(paper ? PAPER_WIDTH : element.clientWidth);
}
async function prepared(element) {
  const id = element.dataset.curves || element.closest("[data-fleet]").dataset.fleet;
  element.prepare(await numbersOf(id));  // lists first: plotly takes a second on a slow machine
  await plotlyReady();
}
async function show(element) {
  if (waiting.has(element)) return;
  waiting.add(element);
  await prepared(element);
  draw(element);
  onResize.observe(element);
}
const resized = new Set();
const onResize = new ResizeObserver((entries) => {
  for (const { target } of entries) if (target.clientWidth !== widths.get(target)) resized.add(target);
  if (resized.size && !paper) setTimeout(() => { for (const element of resized) draw(element); resized.clear(); }, 60);
});
function drawAgain() { for (const element of drawn) draw(element); }

function registered(element, prepare, drawer) {
  let read = null;
  element.prepare = (value) => { read ??= prepare(value) ?? value; };
  drawers.set(element, (width) => drawer(read, width));
}
async function start() {
  registerCurves();
  registerFleets();
  followHash();
  const plots = [...drawers.keys()];
  const seen = (element) => {
    const place = element.getBoundingClientRect();
    return place.top < innerHeight && place.bottom > 0;
  };
  await Promise.all(plots.filter(seen).map(show));
  root.dataset.ready = "yes";
  root.dataset.readySeconds = (performance.now() / 1000).toFixed(3);
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  if (paint) root.dataset.paintSeconds = (paint.startTime / 1000).toFixed(3);
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) show(entry.target).catch(say);
  }, { rootMargin: "600px" });
  plots.forEach((plot) => watch.observe(plot));
  // One after another, so that the page stays quick; paper needs them all.
  const rest = plots.filter((plot) => !waiting.has(plot));
  const next = () => {
    const plot = rest.shift();
    if (!plot) {
      root.dataset.allSeconds = (performance.now() / 1000).toFixed(3);
      root.dataset.all = "yes";
      return;
    }
    show(plot).catch(say).then(() => setTimeout(next, 20));
  };
  setTimeout(next, 20);
}

const theme = document.getElementById("theme");
const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
const nameTheme = () => { theme.textContent = dark() ? "light" : "dark"; };
theme.addEventListener("click", () => {
  root.dataset.theme = dark() ? "light" : "dark";
  nameTheme();
  drawAgain();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { nameTheme(); drawAgain(); });
window.addEventListener("hashchange", followHash);
let themeBefore = null;
window.addEventListener("beforeprint", () => {
  themeBefore = root.dataset.theme ?? null;
  root.dataset.theme = "light";
  paper = true;
  for (const details of document.querySelectorAll("details.more:not([open])")) details.open = true;
  drawAgain();
});
window.addEventListener("afterprint", () => {
  paper = false;
  if (themeBefore === null) delete root.dataset.theme; else root.dataset.theme = themeBefore;
  drawAgain();
});
nameTheme();
window.addEventListener("DOMContentLoaded", () => start().catch(say));
