// Reading embedded numbers, raw numbers, cells of maps, light and dark.
const root = document.documentElement;
const say = (error) => { root.dataset.error = String((error && error.stack) || error); };
window.addEventListener("error", (event) => say(event.error || event.message));
window.addEventListener("unhandledrejection", (event) => say(event.reason));

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}
async function unpacked(id) {
  const element = document.getElementById(id);
  const stream = new Blob([bytesOf(element.textContent)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

// The value of a script element; read once.
const known = new Map();
function numbersOf(id, read = JSON.parse) {
  if (!known.has(id)) known.set(id, unpacked(id).then(read));
  return known.get(id);
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
  if (Math.abs(value) >= 1e12) return value.toExponential(digits - 1);
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
  if (button.className !== "copy") return offer(csvOf(table), button.dataset.name || `${button.closest(".figure").id}.csv`);
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
async function followHash() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const details = target?.closest("details.raw, details.more");
  if (!details || details.open) return;
  details.open = true;
  if (details.matches("details.raw")) await fillRaw(details);
  target.scrollIntoView();
}
window.addEventListener("hashchange", () => followHash().catch(say));

// ---- Heat maps: the value of the cell that is pointed at
function cellAt(map, image, event) {
  const { left, top, width, height } = image.getBoundingClientRect();
  const column = Math.floor(((event.clientX - left) / width) * map.columns.length);
  const row = Math.floor(((event.clientY - top) / height) * map.rows.length);
  return map.values[row]?.[column] === undefined ? null : [row, column];
}
// ---- Tables that are sorted by a column: numbers, or words
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  table.querySelectorAll("thead th").forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
    const turn = head.dataset.turn === "1" ? -1 : 1, key = (row) => row.cells[column].dataset.value;
    head.dataset.turn = turn;
    const order = (a, b) => (key(a) || key(b) ? Number(key(a) ?? NaN) - Number(key(b) ?? NaN)
      : row_text(a, column).localeCompare(row_text(b, column)));
    const known = (row) => key(row) !== undefined || !table.querySelector(`td:nth-child(${column + 1})[data-value]`);
    const rows = [...body.rows];
    body.replaceChildren(...rows.filter(known).sort((a, b) => turn * order(a, b)), ...rows.filter((row) => !known(row)));
  }));
}
function row_text(row, column) { return row.cells[column].textContent; }

// ---- Many hosts: those whose name has the words that are looked for
for (const search of document.querySelectorAll("input[type=search]")) {
  search.addEventListener("input", () => {
    const wanted = search.value.toLowerCase();
    for (const row of document.querySelectorAll(".hosts tbody tr")) row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
  });
}

async function startMaps() {
  for (const box of document.querySelectorAll("[data-cells]")) {
    const map = await numbersOf(box.dataset.cells), words = box.parentElement.querySelector(".cell-words");
    box.addEventListener("pointermove", (event) => {
      const cell = cellAt(map, box.querySelector("image"), event);
      if (!cell) return;
      const [row, column] = cell, of = (grid) => map[grid][row]?.[column] ?? null;
      const ends = of("low") === null ? "" : ` (${numberText(of("low"))} to ${numberText(of("high"))})`;
      const value = of("values") === null ? "no value" : `${numberText(of("values"))} ${map.unit}${ends}`;
      const more = of("texts") ? `; ${of("texts")}` : "";
      words.textContent = `${map.row} ${map.rows[row]}, ${map.column} ${map.columns[column]}: ${value}${more}`;
    });
  }
}

// ---- Light, dark and paper
const theme = document.getElementById("theme");
const system = matchMedia("(prefers-color-scheme: dark)");
const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
function turn(to) {
  if (to) root.dataset.theme = to; else delete root.dataset.theme;
  theme.textContent = dark() ? "light" : "dark";
}
theme.addEventListener("click", () => turn(dark() ? "light" : "dark"));
system.addEventListener("change", () => turn(root.dataset.theme));
window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details.more:not([open])")) details.open = true;
});
turn(root.dataset.theme);
window.addEventListener("DOMContentLoaded", async () => {
  try {
    await followHash();
    await startMaps();
    root.dataset.ready = "yes";
  } catch (error) {
    say(error);
  }
});
