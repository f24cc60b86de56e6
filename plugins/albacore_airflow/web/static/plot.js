// Charts by plotly, in the colours of the page. It loads before this module (defer) and is at window.Plotly.
const drawn = new Map();

// Plotly reads <b>, <i>, <a href> … in texts as markup, and entities back into characters: so a text is sent as entities.
export const plain = (text) =>
  String(text ?? "").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// Ten colours for things without an order, nodes say (Okabe and Ito's, and their darker and lighter neighbours).
export const SERIES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a6fdf", "#7d8a2e", "#b0413e", "#5c7c8a"];

const axis = (own) => ({
  gridcolor: colour("line"), zerolinecolor: colour("line-strong"), linecolor: colour("line-strong"),
  automargin: true, ...own, title: { standoff: 10, ...own?.title },
});

function look(layout) {
  return {
    margin: { l: 56, r: 16, t: 12, b: 44 },
    hovermode: "closest",
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, ...layout.legend },
    ...layout,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("text") },
    hoverlabel: { bgcolor: colour("card"), bordercolor: colour("line-strong"), font: { color: colour("text"), size: 12 }, align: "left" },
    xaxis: axis(layout.xaxis),
    yaxis: axis(layout.yaxis),
  };
}

// make() -> [traces, layout]; it is called again when light becomes dark.
export function draw(place, make) {
  drawn.set(place, make);
  const [traces, layout] = make();
  return window.Plotly.react(place, traces, look({ uirevision: "kept", ...layout }), { responsive: true, displayModeBar: false });
}

export function clear(place, ...children) {
  if (drawn.delete(place)) window.Plotly.purge(place);
  place.replaceChildren(...children);
}

document.addEventListener("theme", () => {
  for (const [place, make] of drawn) draw(place, make);
});

// Thousands of points are drawn by the graphics card where there is one.
const canvas = document.createElement("canvas");
const hasCard = Boolean(canvas.getContext("webgl2") ?? canvas.getContext("webgl"));
export const scatter = (points) => (points > 3000 && hasCard ? "scattergl" : "scatter");
