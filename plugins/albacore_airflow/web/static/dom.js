// Elements out of data. Text is set as text, never as markup: what comes from nodes, files and imports stays what it is.
export const $ = (id) => document.getElementById(id);

export function el(name, props = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key in node && typeof value !== "string") node[key] = value;
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const fill = (node, ...children) => {
  node.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
};

export const badge = (word, kind = word) => el("span", { class: `badge ${kind}` }, word);

export function toast(text) {
  const node = el("div", { class: "toast" }, text);
  $("toasts").append(node);
  setTimeout(() => node.remove(), 6000);
}

// A link to another site: Airflow's frame lets ours open no window, so the page around it does. Only web addresses.
export function outside(href, text) {
  let url;
  try {
    url = new URL(href);
  } catch {
    return document.createTextNode(text);
  }
  if (!["http:", "https:"].includes(url.protocol)) return document.createTextNode(text);
  const open = (event) => {
    if (window.parent === window) return;
    try {
      const link = window.parent.document.createElement("a");
      Object.assign(link, { href: url.href, target: "_blank", rel: "noopener noreferrer" });
      link.click();
      event.preventDefault();
    } catch {
      // a frame of another origin: the browser decides
    }
  };
  return el("a", { href: url.href, target: "_blank", rel: "noopener noreferrer", onclick: open }, text);
}

// A link to a page of Airflow's own UI: in its frame the UI around goes there, without loading anew.
export function airflow(path, text) {
  const open = (event) => {
    if (window.parent === window) return;
    try {
      window.parent.history.pushState({}, "", path);
      window.parent.dispatchEvent(new PopStateEvent("popstate", { state: {} }));
      event.preventDefault();
    } catch {
      // a frame of another origin: the browser decides
    }
  };
  return el("a", { href: path, onclick: open }, text);
}
