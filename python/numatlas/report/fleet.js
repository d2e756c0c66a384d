// Fleets: a strip of all hosts, a table of them by pages, and the rounds of the one that is chosen.
const ROWS_A_PAGE = 100;
const NAMED_HOSTS = 30;  // so many hosts are named along the strip
const MOST_POINTS = 2000;  // of the strip's lines: more than a screen has pixels

function floatsOf(packed) {
  const floats = new Float32Array(bytesOf(packed.floats).buffer);
  return (host) => {
    if (typeof packed.lengths === "number") return [...floats.subarray(host * packed.lengths, (host + 1) * packed.lengths)];
    if (!packed.starts) {
      packed.starts = [0];
      for (const length of packed.lengths) packed.starts.push(packed.starts.at(-1) + length);
    }
    return [...floats.subarray(packed.starts[host], packed.starts[host + 1])];
  };
}

function prepareFleet(fleet) {
  fleet.kernel = 0;
  fleet.roundsOf = fleet.rounds.map(floatsOf);
  fleet.words = fleet.hosts.map(() => []);
  fleet.drops = new Map();
  for (const [host, kernel, drop, words] of fleet.suspects) {
    fleet.words[host].push(words);
    fleet.drops.set(host, Math.max(drop, fleet.drops.get(host) ?? 0));
  }
  fleet.severalKinds = new Set(fleet.kinds).size > 1;
}

// ---- The strip: hosts in the order of their bandwidth, with worst and best round
function ordered(fleet) {
  const values = fleet.values[fleet.kernel];
  return fleet.hosts.map((_, host) => host).filter((host) => values[host] !== null).sort((a, b) => values[a] - values[b]);
}
// Of many hosts the line has every so-manieth; its band covers those between.
function thinned(fleet, order) {
  const step = Math.ceil(order.length / MOST_POINTS);
  const points = { at: [], median: [], least: [], most: [] };
  const pick = (lists, from, choose) => choose(...order.slice(from, from + step).map((host) => lists[fleet.kernel][host] ?? fleet.values[fleet.kernel][host]));
  for (let from = 0; from < order.length; from += step) {
    const middle = Math.min(from + Math.floor(step / 2), order.length - 1);
    points.at.push(middle + 1);
    points.median.push(fleet.values[fleet.kernel][order[middle]]);
    points.least.push(pick(fleet.least, from, Math.min));
    points.most.push(pick(fleet.most, from, Math.max));
  }
  return points;
}
// Of few hosts: a line from the worst to the best round. The value need not lie between (an average of processes).
function whiskers(points) {
  const lines = { mode: "lines", line: { color: shade("c0"), width: 5 }, opacity: 0.4, hoverinfo: "skip", x: [], y: [] };
  points.at.forEach((at, index) => {
    lines.x.push(at, at, null);
    lines.y.push(points.least[index], points.most[index], null);
  });
  return lines;
}
function hostHover(fleet, host) {
  const kernel = fleet.kernel;
  const least = fleet.least[kernel][host];
  const rounds = least === null ? "" : `<br>rounds ${numberText(least)} to ${numberText(fleet.most[kernel][host])}`;
  return `${plain(fleet.hosts[host])}: <b>${numberText(fleet.values[kernel][host])} ${plain(fleet.unit)}</b>${rounds}`;
}
function drawStrip(box, place, fleet, width) {
  const order = ordered(fleet);
  const few = order.length <= NAMED_HOSTS;
  const points = thinned(fleet, order);
  const band = { mode: "lines", line: { width: 0 }, hoverinfo: "skip" };
  const suspects = order.map((host, at) => [host, at + 1]).filter(([host]) => fleet.words[host].length);
  const traces = [
    ...(few ? [whiskers(points)] : [
      { ...band, x: points.at, y: points.least },
      { ...band, x: points.at, y: points.most, fill: "tonexty", fillcolor: `${shade("c0")}40` },
    ]),
    { x: points.at, y: points.median, mode: few ? "markers" : "lines", marker: { color: shade("c0"), size: 9 }, line: { color: shade("c0"), width: 2 },
      text: points.at.map((at) => hostHover(fleet, order[at - 1])), customdata: points.at.map((at) => order[at - 1]),
      hovertemplate: "%{text}<extra></extra>" },
    { x: suspects.map((pair) => pair[1]), y: suspects.map((pair) => fleet.values[fleet.kernel][pair[0]]), mode: "markers",
      marker: { color: shade("bad"), size: 9, symbol: "triangle-down" }, text: suspects.map((pair) => hostHover(fleet, pair[0])),
      customdata: suspects.map((pair) => pair[0]), hovertemplate: "%{text}<br>suspect<extra></extra>" },
  ];
  const look = { gridcolor: shade("grid"), linecolor: shade("line"), zeroline: false };
  const x = { ...look, title: { text: few ? "" : "hosts, from the slowest to the fastest" }, automargin: true };
  if (few) Object.assign(x, { tickvals: points.at, ticktext: order.map((host) => plain(fleet.hosts[host])) });
  const y = { ...look, title: { text: `${plain(fleet.kernels[fleet.kernel])}, ${plain(fleet.unit)}` }, automargin: true };
  const layout = layoutOf({ xaxis: x, yaxis: y }, width, 300, 12);
  if (width < 500) layout.dragmode = false;
  Plotly.react(place, traces, layout, CONFIG);
  place.removeAllListeners("plotly_click");
  place.on("plotly_click", (event) => {
    const host = event.points.find((point) => point.customdata !== undefined)?.customdata;
    if (host !== undefined) showHost(box, fleet, host);
  });
  box.querySelector(".strip-words").textContent =
    `${few ? "point" : "line"}: each host's value; ${few ? "bar" : "band"}: its worst to its best round` +
    `${suspects.length ? "; red: suspects" : ""}.${place._fullLayout.yaxis.range[0] > 0 ? " The axis does not start at 0." : ""} Choose a host to see its rounds.`;
}
function choices(box, place, fleet) {
  box.querySelector(".choices").replaceChildren(...fleet.kernels.map((name, kernel) => {
    const button = make("button", { type: "button", textContent: name });
    button.setAttribute("aria-pressed", String(kernel === fleet.kernel));
    button.addEventListener("click", () => { fleet.kernel = kernel; choices(box, place, fleet); draw(place); });
    return button;
  }));
}

// ---- One host
function showHost(box, fleet, host) {
  const heads = ["kernel", `value, ${fleet.unit}`, "95 % interval", "worst, best round", "rounds"];
  const rows = fleet.kernels.map((name, kernel) => {
    const pair = (low, high) => (low[kernel][host] === null ? "\u2013" : `${numberText(low[kernel][host])} to ${numberText(high[kernel][host])}`);
    const rounds = fleet.roundsOf[kernel]?.(host) ?? [];
    return make("tr", {}, make("th", { textContent: name }),
      ...[numberText(fleet.values[kernel][host]), pair(fleet.low, fleet.high), pair(fleet.least, fleet.most),
        rounds.length ? rounds.map((value) => numberText(value)).join("  ") : "not in the file"].map((text) => make("td", { textContent: text })));
  });
  const head = make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { textContent: text }))));
  const lines = [fleet.severalKinds ? fleet.kind_names[fleet.kinds[host]] : "", fleet.facts.words[fleet.facts.codes[host]], ...fleet.words[host]];
  box.querySelector(".details-here").replaceChildren(make("div", { className: "details" }, make("h5", { textContent: fleet.hosts[host] }),
    ...lines.filter(Boolean).map((text) => make("p", { textContent: text })),
    make("div", { className: "scroll" }, make("table", { className: "plain" }, head, make("tbody", {}, ...rows)))));
  for (const row of box.querySelectorAll(".hosts tbody tr")) row.classList.toggle("chosen", row.dataset.host === String(host));
}

// ---- The table of hosts
function sortedHosts(fleet, view) {
  const wanted = view.search.toLowerCase();
  const found = fleet.hosts.map((_, host) => host).filter((host) => !wanted || fleet.hosts[host].toLowerCase().includes(wanted));
  const key = view.column === -1 ? null : view.column === fleet.kernels.length ? (host) => fleet.drops.get(host) ?? null : (host) => fleet.values[view.column][host];
  const names = new Intl.Collator("en", { numeric: true });
  // Without a value: at the end, whichever way.
  return found.sort((a, b) => {
    if (!key) return view.turn * names.compare(fleet.hosts[a], fleet.hosts[b]);
    const [x, y] = [key(a), key(b)];
    if (x === null || y === null) return (x === null) - (y === null);
    return view.turn * (x - y);
  });
}
function hostRow(box, fleet, host) {
  const drop = fleet.drops.get(host);
  const row = make("tr", { tabIndex: 0 }, make("th", { textContent: fleet.hosts[host] }),
    ...fleet.values.map((values) => make("td", { textContent: numberText(values[host]) })));
  if (fleet.severalKinds) row.append(make("td", { textContent: fleet.kind_names[fleet.kinds[host]] }));
  if (fleet.judged) row.append(make("td", { className: "slow", textContent: drop === undefined ? "" : `${(100 * drop).toFixed(1)} % slow` }));
  row.dataset.host = host;
  const choose = () => { showHost(box, fleet, host); box.querySelector(".details-here").scrollIntoView({ block: "nearest" }); };
  row.addEventListener("click", choose);
  row.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(); });
  return row;
}
function hostTable(box, fleet) {
  const view = { search: "", column: -1, turn: 1, page: 0 };
  const search = make("input", { type: "search", placeholder: "find a host" });
  search.setAttribute("aria-label", "find a host");
  const back = make("button", { type: "button", textContent: "\u2190" }), on = make("button", { type: "button", textContent: "\u2192" });
  back.setAttribute("aria-label", "page before");
  on.setAttribute("aria-label", "next page");
  const words = make("span", { className: "quiet" });
  const body = make("tbody", {});
  const heads = [["host", -1], ...fleet.kernels.map((name, kernel) => [`${name}, ${fleet.unit}`, kernel])];
  const headRow = make("tr", {});
  const fill = () => {
    const hosts = sortedHosts(fleet, view);
    const pages = Math.max(1, Math.ceil(hosts.length / ROWS_A_PAGE));
    view.page = Math.min(Math.max(view.page, 0), pages - 1);
    const from = view.page * ROWS_A_PAGE;
    body.replaceChildren(...hosts.slice(from, from + ROWS_A_PAGE).map((host) => hostRow(box, fleet, host)));
    words.textContent = hosts.length ? `${from + 1} to ${Math.min(from + ROWS_A_PAGE, hosts.length)} of ${hosts.length}` : "no such host";
    back.disabled = view.page === 0;
    on.disabled = view.page === pages - 1;
    back.hidden = on.hidden = pages === 1;
  };
  const headOf = ([text, column]) => {
    const button = make("button", { type: "button", textContent: text, title: "sort" });
    button.addEventListener("click", () => {
      view.turn = view.column === column ? -view.turn : column === fleet.kernels.length ? -1 : 1;
      Object.assign(view, { column, page: 0 });
      fill();
    });
    return make("th", {}, button);
  };
  headRow.append(...heads.map(headOf));
  if (fleet.severalKinds) headRow.append(make("th", { textContent: "kind" }));
  if (fleet.judged) headRow.append(headOf(["verdict", fleet.kernels.length]));
  search.addEventListener("input", () => { view.search = search.value; view.page = 0; fill(); });
  back.addEventListener("click", () => { view.page -= 1; fill(); });
  on.addEventListener("click", () => { view.page += 1; fill(); });
  box.querySelector(".hosts-here").replaceChildren(make("div", { className: "hosts-bar" }, search, back, words, on),
    make("div", { className: "scroll" }, make("table", { className: "plain hosts" }, make("thead", {}, headRow), body)));
  fill();
}

function registerFleets() {
  for (const box of document.querySelectorAll("[data-fleet]")) {
    const place = box.querySelector(".strip");
    const prepare = (fleet) => {
      prepareFleet(fleet);
      choices(box, place, fleet);
      hostTable(box, fleet);
      if (fleet.hosts.length === 1) showHost(box, fleet, 0);
    };
    registered(place, prepare, (fleet, width) => drawStrip(box, place, fleet, width));
  }
}
