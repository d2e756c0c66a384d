// Embedded numbers, cells of maps, sorted tables.
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

// ---- Raw numbers: the table of a figure as CSV
function offer(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-table]");
  if (!button) return;
  offer(await numbersOf(button.dataset.table, String), button.dataset.name || `${button.closest(".figure").id}.csv`);
});

// A link to a warning opens the list that has it.
function followHash() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const details = target?.closest("details.more");
  if (!details || details.open) return;
  details.open = true;
  target.scrollIntoView();
}
window.addEventListener("hashchange", followHash);

// ---- Heat maps: the value of the cell that is pointed at
function cellAt(map, image, event) {
  const { left, top, width, height } = image.getBoundingClientRect();
  const column = Math.floor(((event.clientX - left) / width) * map.columns.length);
  const row = Math.floor(((event.clientY - top) / height) * map.rows.length);
  return map.words[row]?.[column] === undefined ? null : [row, column];
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
      const cell = cellAt(map, box.querySelector(".cells"), event);
      if (!cell) return;
      const [row, column] = cell;
      words.textContent = `${map.row} ${map.rows[row]}, ${map.column} ${map.columns[column]}: ${map.words[row][column]}`;
    });
  }
}

window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details.more:not([open])")) details.open = true;
});
window.addEventListener("DOMContentLoaded", async () => {
  try {
    followHash();
    await startMaps();
    root.dataset.ready = "yes";
  } catch (error) {
    say(error);
  }
});
