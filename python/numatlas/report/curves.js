// Curves, with plotly.
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon"];
const SIGNS = ["\u25cf", "\u25a0", "\u25c6", "\u25b2", "\u271a", "\u2716", "\u2605", "\u2b22"];
const DASHES = ["solid", "dash", "dot", "dashdot"];
const FEW_LINES = 8;  // up to here every point shows its spread

// plotly reads a little HTML in its texts; names are data.
const plain = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function withUnit(axis) {
  const unit = axis.unit && axis.unit !== "bytes" ? axis.unit : "";
  return plain([axis.label, unit].filter(Boolean).join(", "));
}

const FEW_TICKS = 12;
function xAxis(axis, width, xs) {
  const look = { title: { text: withUnit(axis) }, gridcolor: shade("grid"), linecolor: shade("line"), zeroline: false, ticks: "outside" };
  if (!axis.limits) return look;
  const [low, high] = axis.limits;
  if (!axis.log2 || low <= 0) {
    const margin = (high - low || Math.abs(high) || 1) * 0.04;
    const counts = [...new Set(xs)];  // of workers: whole numbers, so no others between them
    const whole = !axis.unit && counts.length <= FEW_TICKS && counts.every(Number.isInteger);
    return { ...look, range: [low - margin, high + margin], ...(whole ? { tickvals: counts, ticktext: counts.map(String) } : {}) };
  }
  const first = Math.floor(Math.log2(low)), last = Math.ceil(Math.log2(high));
  const step = Math.max(1, Math.ceil((last - first + 1) / Math.max(2, Math.floor(width / 70))));
  const ticks = [];
  for (let power = first; power <= last; power += step) ticks.push(2 ** power);
  const text = axis.unit === "bytes" ? ticks.map(sizeText) : ticks.map(String);
  const margin = Math.max(0.15, (last - first) * 0.02) * Math.log10(2);
  return { ...look, type: "log", tickvals: ticks, ticktext: text, range: [Math.log10(low) - margin, Math.log10(high) + margin] };
}

const DECADE = 10;
// From 0; but sizes against values of more than a decade are a ladder, whose lowest steps would not be seen.
function yAxis(axis, ladder) {
  const look = { title: { text: withUnit(axis) }, gridcolor: shade("grid"), linecolor: shade("line"), zeroline: false, automargin: true };
  if (!axis.limits) return look;
  const [low, high] = axis.limits;
  if (ladder && low > 0 && high > DECADE * low) {
    const title = { text: `${withUnit(axis)} (logarithmic)` };
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high) + 1; power += 1)
      for (const step of high > 1e4 * low ? [1] : [1, 2, 5]) ticks.push(Number((step * 10 ** power).toPrecision(2)));
    return { ...look, title, type: "log", tickvals: ticks, ticktext: ticks.map(String), range: [Math.log10(low) - 0.1, Math.log10(high) + 0.1] };
  }
  return { ...look, range: [Math.min(0, axis.limits[0]), axis.limits[1] * 1.06] };
}

function spreadOf(line) {
  const arms = (ends, sign) => line.y.map((y, at) => (y === null || (ends[at] ?? null) === null ? 0 : Math.max(0, sign * (ends[at] - y))));
  return { type: "data", symmetric: false, array: arms(line.high, 1), arrayminus: arms(line.low, -1), thickness: 1.2, width: 3 };
}

function hoverOf(picture, line) {
  return line.x.map((x, at) => {
    const where = picture.x.unit === "bytes" ? sizeText(x) : `${numberText(x)} ${picture.x.unit}`;
    const spread = (line.low[at] ?? null) === null ? "" : ` (${numberText(line.low[at])} to ${numberText(line.high[at])})`;
    const text = line.texts[at] ? `<br>${plain(line.texts[at])}` : "";
    return `${plain(line.name)}<br>${where}: <b>${numberText(line.y[at])} ${plain(picture.y.unit)}</b>${spread}${text}`;
  });
}

// The first are the largest: of lines that lie upon one another all are seen.
function traceOf(picture, line, index) {
  const colour = shade(`c${index % 8}`);
  const trace = {
    x: line.x, y: line.y, text: hoverOf(picture, line), hovertemplate: "%{text}<extra></extra>", mode: "lines+markers",
    line: { color: colour, width: 2, dash: DASHES[Math.floor(index / 8) % 4] },
    marker: { color: colour, size: Math.max(6, 11 - 1.5 * index), symbol: SYMBOLS[index % 8] }, visible: !picture.hidden.has(index),
  };
  if (picture.series.length <= FEW_LINES && line.low.length) trace.error_y = { ...spreadOf(line), color: colour };
  return trace;
}

// Cache sizes as lines down the picture; their words take turns in height, so that they stay readable.
function marksOf(picture, axis) {
  const log = axis.type === "log";
  const inside = picture.marks.filter((mark) => !axis.range || ((at) => at >= axis.range[0] && at <= axis.range[1])(log ? Math.log10(mark.x) : mark.x));
  return {
    shapes: inside.map((mark) => ({ type: "line", x0: mark.x, x1: mark.x, yref: "paper", y0: 0, y1: 1, line: { color: shade("quiet"), width: 1, dash: "dot" } })),
    annotations: inside.map((mark, index) => ({ x: log ? Math.log10(mark.x) : mark.x, yref: "paper", y: 1, yanchor: "bottom", yshift: 14 * (index % 2),
      text: plain(mark.text), showarrow: false, font: { size: 11, color: shade("quiet") } })),
  };
}

function layoutOf(more, width, height, top) {
  return { width, height, margin: { l: 56, r: 14, t: top, b: 48 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: shade("ink"), family: "system-ui, sans-serif", size: 12 }, showlegend: false, hovermode: "closest",
    hoverlabel: { bgcolor: shade("card"), bordercolor: shade("line"), font: { color: shade("ink") }, align: "left" }, ...more };
}
const CONFIG = { displayModeBar: false, responsive: false, scrollZoom: false, doubleClick: "reset" };

function legendOf(place, picture, redraw) {
  const legend = place.parentElement.querySelector(".legend");
  legend.replaceChildren(...picture.series.map((line, index) => {
    const swatch = make("span", { className: "sign", textContent: SIGNS[index % 8] });
    swatch.style.color = `var(--c${index % 8})`;
    const button = make("button", { type: "button", title: "show or hide" }, swatch, line.name);
    const dash = DASHES[Math.floor(index / 8) % 4];
    if (dash !== "solid") button.append(` (${dash})`);
    button.setAttribute("aria-pressed", String(!picture.hidden.has(index)));
    button.addEventListener("click", () => {
      if (!picture.hidden.delete(index)) picture.hidden.add(index);
      redraw();
    });
    return button;
  }));
}

function drawCurves(place, picture, width) {
  const x = xAxis(picture.x, width, picture.series.flatMap((line) => line.x));
  const layout = layoutOf({ xaxis: x, yaxis: yAxis(picture.y, picture.x.log2), ...marksOf(picture, x) }, width, 340, picture.marks.length ? 36 : 12);
  if (width < 500) layout.dragmode = false;  // a finger scrolls the page
  Plotly.react(place, picture.series.map((line, index) => traceOf(picture, line, index)), layout, CONFIG);
  legendOf(place, picture, () => draw(place));
}

function registerCurves() {
  for (const place of document.querySelectorAll("[data-curves]"))
    registered(place, (value) => { value.hidden = new Set(); }, (picture, width) => drawCurves(place, picture, width));
}
