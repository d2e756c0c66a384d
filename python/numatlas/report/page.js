// What all figures need: reading embedded numbers, themes, raw numbers, when to draw.
const root = document.documentElement;
const say = (error) => { root.dataset.error = String((error && error.stack) || error); };
window.addEventListener("error", (event) => say(event.error || event.message));
window.addEventListener("unhandledrejection", (event) => say(event.reason));

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}
async function unpacked(id) {
  const element = document.getElementById(id);
  if (!("packed" in element.dataset)) return element.textContent;
  const stream = new Blob([bytesOf(element.textContent)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

// The value of a script element; read once.
const known = new Map();
function numbersOf(id, read = JSON.parse) {
  if (!known.has(id)) known.set(id, unpacked(id).then(read));
  return known.get(id);
}

let plotlyLoading = null;
function plotlyReady() {
  plotlyLoading ??= unpacked("plotly").then((text) => document.head.append(make("script", { textContent: text })));
  return plotlyLoading;
}

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

// ---- Raw numbers: the table of a figure as text; tabs stand nowhere but between columns
const tableOf = (button) => numbersOf(button.dataset.table, String);
function csvOf(table) {
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return table.split("\n").map((line) => line.split("\t").map(quoted).join(",")).join("\n");
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
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-table]");
  if (!button) return;
  const table = await tableOf(button);
  if (button.className !== "copy") return offer(csvOf(table), `${button.closest(".figure").id}.csv`);
  await copied(table);
  button.textContent = `copied ${table.split("\n").length - 2} rows`;
  setTimeout(() => { button.textContent = "copy as TSV"; }, 1500);
});

const MOST_LINES = 2000;  // of the raw numbers on the page; the download has all
async function fillRaw(details) {
  const lines = csvOf(await tableOf(details)).split("\n");
  const more = lines.length - 1 - MOST_LINES;
  details.querySelector("pre").textContent =
    more > 0 ? `${lines.slice(0, MOST_LINES).join("\n")}\n... ${more} more lines: download` : lines.join("\n");
}
document.addEventListener("toggle", (event) => {
  if (event.target.matches?.("details.raw") && event.target.open) fillRaw(event.target).catch(say);
}, true);
// A link to #raw-FIGURE opens its numbers, one to a warning the list that has it.
function followHash() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const details = target?.closest("details.raw, details.more");
  if (!details || details.open) return;
  details.open = true;
  target.scrollIntoView();
}
window.addEventListener("hashchange", followHash);

// ---- Pictures: what is in view first, the rest when there is time, all before printing
const pictures = new Map();  // element -> function that promises what plotly is given
const drawn = new Set();
const PAPER_WIDTH = 660;  // of a plot, in CSS pixels: A4 less its margins
let paper = false;

const probe = document.body.appendChild(make("i", { hidden: true }));
function shade(name) {  // as the theme has it
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}
function template() {
  const axis = { gridcolor: shade("grid"), linecolor: shade("line"), zeroline: false, automargin: true, ticks: "outside", tickcolor: shade("line") };
  return { layout: {
    colorway: [0, 1, 2, 3, 4, 5, 6, 7].map((index) => shade(`c${index}`)), paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: shade("ink"), family: "system-ui, sans-serif", size: 12 }, xaxis: axis, yaxis: axis, hovermode: "closest",
    margin: { l: 56, r: 14, t: 14, b: 48 }, shapedefaults: { line: { color: shade("quiet") } },
    hoverlabel: { bgcolor: shade("card"), bordercolor: shade("line"), font: { color: shade("ink") }, align: "left" } } };
}
async function draw(place) {
  const { data, layout } = await pictures.get(place)();  // lists first: plotly takes a second on a slow machine
  await plotlyReady();
  const width = paper ? PAPER_WIDTH : place.clientWidth;
  const touch = width < 500 ? { dragmode: false } : {};  // a finger scrolls the page
  drawn.add(place);
  return Plotly.react(place, data, { ...layout, ...touch, width: paper ? width : undefined, template: template() },
    { displayModeBar: false, responsive: true, doubleClick: "reset" });
}
const drawAgain = () => Promise.all([...drawn].map(draw)).catch(say);

async function start() {
  for (const place of document.querySelectorAll("[data-picture]")) pictures.set(place, () => numbersOf(place.dataset.picture));
  registerFleets();
  followHash();
  const seen = (place) => {
    const { top, bottom } = place.getBoundingClientRect();
    return top < innerHeight && bottom > 0;
  };
  const [first, rest] = [true, false].map((in_view) => [...pictures.keys()].filter((place) => seen(place) === in_view));
  await Promise.all(first.map(draw));
  root.dataset.ready = "yes";
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting && !drawn.has(target)) draw(target).catch(say);
  }, { rootMargin: "600px" });
  rest.forEach((place) => watch.observe(place));
  for (const place of rest) {  // one after another, so that the page stays quick; paper needs them all
    await new Promise((go) => setTimeout(go, 20));
    if (!drawn.has(place)) await draw(place);
  }
  root.dataset.all = "yes";
}

// ---- Light, dark and paper
const theme = document.getElementById("theme");
const system = matchMedia("(prefers-color-scheme: dark)");
const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
function turn(to) {
  if (to) root.dataset.theme = to; else delete root.dataset.theme;
  theme.textContent = dark() ? "light" : "dark";
  drawAgain();
}
theme.addEventListener("click", () => turn(dark() ? "light" : "dark"));
system.addEventListener("change", () => turn(root.dataset.theme));
let themeBefore;
window.addEventListener("beforeprint", () => {
  themeBefore = root.dataset.theme;
  paper = true;
  for (const details of document.querySelectorAll("details.more:not([open])")) details.open = true;
  turn("light");
});
window.addEventListener("afterprint", () => { paper = false; turn(themeBefore); });
turn(root.dataset.theme);
window.addEventListener("DOMContentLoaded", () => start().catch(say));
