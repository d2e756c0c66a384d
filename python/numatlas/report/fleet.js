// Fleets: the table of all hosts to search and sort, and the rounds of the one that is chosen.
const pair = (low, high) => ((low ?? null) === null ? "\u2013" : `${numberText(low)} to ${numberText(high)}`);

function prepare(fleet) {
  fleet.words = fleet.hosts.map(() => []);
  for (const [host, words] of fleet.suspects) fleet.words[host].push(words);
}

// ---- Hosts
const cell = (textContent) => make("td", { textContent });
const row = (...cells) => make("tr", {}, ...cells);
function gridOf(heads, body, name = "plain") {
  return make("div", { className: "scroll" }, make("table", { className: name }, make("thead", {}, row(...heads)), body));
}
function showHost(box, fleet, host) {
  const heads = ["kernel", `value, ${fleet.unit}`, "95 % interval", "worst, best round", "rounds"];
  const rows = fleet.kernels.map((name, kernel) => {
    const of = (grid) => fleet[grid][kernel][host];
    const rounds = (fleet.rounds[kernel]?.[host] ?? []).map((value) => numberText(value)).join(" ");
    return row(make("th", { textContent: name }), cell(numberText(of("values"))), cell(pair(of("low"), of("high"))),
      cell(pair(of("least"), of("most"))), Object.assign(cell(rounds || "\u2013"), { className: "words" }));
  });
  const facts = [fleet.kind_names[fleet.kinds[host]], fleet.facts[host], ...fleet.words[host]];
  box.querySelector(".details-here").replaceChildren(make("div", { className: "details" }, make("h5", { textContent: fleet.hosts[host] }),
    ...facts.filter(Boolean).map((text) => make("p", { textContent: text })),
    gridOf(heads.map((textContent) => make("th", { textContent })), make("tbody", {}, ...rows))));
}
function hostTable(box, fleet) {
  const body = box.querySelector(".hosts tbody"), rows = [...body.rows];
  const numbers = (column) => new Map(rows.map((line) => [line, parseFloat(line.cells[column].textContent)]));
  box.querySelector("input").addEventListener("input", (event) => {
    for (const line of rows) line.hidden = !line.cells[0].textContent.toLowerCase().includes(event.target.value.toLowerCase());
  });
  box.querySelectorAll(".hosts thead button").forEach((button, column, buttons) => button.addEventListener("click", () => {
    const first = fleet.judged && column === buttons.length - 1 ? -1 : 1;  // the slowest of the suspects
    const turn = Number(button.dataset.turn ?? -first) * -1, key = numbers(column);
    button.dataset.turn = turn;
    const places = new Map(rows.map((line) => [line, Number(line.dataset.host)]));
    const order = (a, b) => (column ? key.get(a) - key.get(b) : places.get(a) - places.get(b));
    const there = rows.filter((line) => !column || !Number.isNaN(key.get(line))).sort((a, b) => turn * order(a, b));
    body.replaceChildren(...there, ...rows.filter((line) => column && Number.isNaN(key.get(line))));
  }));
  const choose = (event) => {
    const line = event.target.closest("tr");
    if (!line || (event.key && event.key !== "Enter")) return;
    showHost(box, fleet, Number(line.dataset.host));
    box.querySelector(".details-here").scrollIntoView({ block: "nearest" });
  };
  body.addEventListener("click", choose);
  body.addEventListener("keydown", choose);
}

async function startFleets() {
  for (const box of document.querySelectorAll("[data-fleet]")) {
    const fleet = await numbersOf(box.dataset.fleet);
    prepare(fleet);
    hostTable(box, fleet);
    if (fleet.hosts.length === 1) showHost(box, fleet, 0);
  }
}
