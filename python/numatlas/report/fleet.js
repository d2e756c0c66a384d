// Fleets: a strip of all hosts, their table to search and sort, and the rounds of the one that is chosen.
const NAMED_HOSTS = 30;  // so many hosts are named along the strip
const MOST_POINTS = 2000;  // of the strip's lines: more than a screen has pixels

// plotly reads a little HTML in its texts; names are data.
const plain = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const pair = (low, high) => ((low ?? null) === null ? "\u2013" : `${numberText(low)} to ${numberText(high)}`);

function prepare(fleet) {
  fleet.kernel = 0;
  fleet.words = fleet.hosts.map(() => []);
  for (const [host, words] of fleet.suspects) fleet.words[host].push(words);
}

// ---- The strip: hosts in the order of their bandwidth, with worst and best round
function stripOf(box, fleet) {
  const of = (name) => fleet[name][fleet.kernel];
  const values = of("values");
  const order = fleet.hosts.map((_, host) => host).filter((host) => values[host] !== null).sort((a, b) => values[a] - values[b]);
  const few = order.length <= NAMED_HOSTS;
  const step = Math.ceil(order.length / MOST_POINTS);  // the line has every so-manieth; its band covers those between
  const parts = Array.from({ length: Math.ceil(order.length / step) }, (_, part) => order.slice(part * step, (part + 1) * step));
  const at = parts.map((part, index) => index * step + Math.floor(part.length / 2) + 1);
  const ends = (name, choose) => parts.map((part) => choose(...part.map((host) => of(name)[host] ?? values[host])));
  const [least, most] = [ends("least", Math.min), ends("most", Math.max)];
  const point = (hosts, more) => ({
    y: hosts.map((host) => values[host]), customdata: hosts, hovertemplate: `%{text}${more}<extra></extra>`,
    text: hosts.map((host) => `${plain(fleet.hosts[host])}: <b>${numberText(values[host])} ${plain(fleet.unit)}</b><br>rounds ${pair(of("least")[host], of("most")[host])}`),
  });
  const slow = order.filter((host) => fleet.words[host].length);
  const band = { mode: "lines", line: { width: 0 }, hoverinfo: "skip", x: at };
  const whiskers = { mode: "lines", line: { color: shade("c0"), width: 5 }, opacity: 0.4, hoverinfo: "skip",
    x: at.flatMap((x) => [x, x, null]), y: at.flatMap((_, index) => [least[index], most[index], null]) };
  const data = [
    ...(few ? [whiskers] : [{ ...band, y: least }, { ...band, y: most, fill: "tonexty", fillcolor: shade("c0").replace(")", ", 0.25)").replace("rgb(", "rgba(") }]),
    { ...point(at.map((x) => order[x - 1]), ""), x: at, mode: few ? "markers" : "lines", marker: { color: shade("c0"), size: 9 }, line: { color: shade("c0"), width: 2 } },
    { ...point(slow, "<br>suspect"), x: slow.map((host) => order.indexOf(host) + 1), mode: "markers", marker: { color: shade("bad"), size: 9, symbol: "triangle-down" } },
  ];
  const low = Math.min(...least), span = Math.max(...most) - low;
  box.querySelector(".strip-words").textContent = `${few ? "point" : "line"}: each host's value; ${few ? "bar" : "band"}: its worst to its best round` +
    `${slow.length ? "; red: suspects" : ""}.${low > span ? " The axis does not start at 0." : ""} Choose a host to see its rounds.`;
  const named = few ? { tickvals: at, ticktext: order.map((host) => plain(fleet.hosts[host])) } : { title: { text: "hosts, from the slowest to the fastest" } };
  const y = { title: { text: `${plain(fleet.kernels[fleet.kernel])}, ${plain(fleet.unit)}` }, ...(low > span ? {} : { rangemode: "tozero" }) };
  return { data, layout: { xaxis: named, yaxis: y, height: 300, showlegend: false } };
}
function choices(box, place, fleet) {
  box.querySelector(".choices").replaceChildren(...fleet.kernels.map((name, kernel) => {
    const button = make("button", { type: "button", textContent: name });
    button.setAttribute("aria-pressed", String(kernel === fleet.kernel));
    button.addEventListener("click", () => { fleet.kernel = kernel; choices(box, place, fleet); draw(place).catch(say); });
    return button;
  }));
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

function registerFleets() {
  for (const box of document.querySelectorAll("[data-fleet]")) {
    const place = box.querySelector(".strip");
    const ready = numbersOf(box.dataset.fleet).then((fleet) => {
      prepare(fleet);
      choices(box, place, fleet);
      hostTable(box, fleet);
      if (fleet.hosts.length === 1) showHost(box, fleet, 0);
      return fleet;
    });
    pictures.set(place, async () => {
      const strip = stripOf(box, await ready);
      await plotlyReady();
      setTimeout(() => {
        place.removeAllListeners?.("plotly_click");
        place.on?.("plotly_click", async (event) => {
          const host = event.points.find((point) => point.customdata !== undefined)?.customdata;
          if (host !== undefined) showHost(box, await ready, host);
        });
      });
      return strip;
    });
  }
}
