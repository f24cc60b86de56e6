// A table with a filter, sortable columns, and as many rows as are asked for.
import { $, el, fill } from "./dom.js";

const STEP = 200;

// columns: {key, title, num, cell(row) -> text or node, sort(row) -> number or text, text(row) -> what the filter looks at}
export class Table {
  constructor(place, { title, columns, sort, down = false, open, rowClass, kinds, placeholder = "Filter" }) {
    Object.assign(this, { columns, open, rowClass, kinds, rows: [], sort, down, limit: STEP, words: "", kind: "" });
    this.head = el("thead");
    this.body = el("tbody");
    this.foot = el("div", { class: "more" });
    this.search = el("input", { type: "search", placeholder, "aria-label": placeholder, oninput: () => this.#filter() });
    this.choice = kinds && el("select", { "aria-label": "Kind", onchange: () => this.#filter() }, el("option", { value: "" }, "all"));
    fill(
      place,
      el("div", { class: "tools" }, el("h2", {}, title), this.choice, this.search),
      el("div", { class: "scroll" }, el("table", {}, this.head, this.body)),
      this.foot,
    );
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target.matches("input, select, textarea")) return;
      event.preventDefault();
      this.search.focus();
    });
    this.#heads();
  }

  show(rows) {
    this.rows = rows;
    if (this.kinds) {
      const now = this.choice.value;
      const found = [...new Set(rows.map(this.kinds))].sort();
      fill(this.choice, el("option", { value: "" }, "all"), ...found.map((kind) => el("option", { value: kind }, kind)));
      this.choice.value = found.includes(now) ? now : "";
    }
    this.#draw();
  }

  #filter() {
    this.limit = STEP;
    this.#draw();
  }

  #heads() {
    const cells = this.columns.map((column) => {
      const way = column.key === this.sort ? (this.down ? "descending" : "ascending") : "none";
      const button = el("button", { type: "button", onclick: () => this.#by(column.key) }, column.title);
      return el("th", { scope: "col", class: column.num && "num", "aria-sort": way }, button);
    });
    fill(this.head, el("tr", {}, cells));
  }

  #by(key) {
    this.down = this.sort === key ? !this.down : false;
    this.sort = key;
    this.#heads();
    this.#draw();
  }

  #chosen() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = (row) => this.columns.map((c) => (c.text ?? c.sort)(row) ?? "").join(" ").toLowerCase();
    const kind = this.choice?.value;
    const rows = this.rows.filter((row) => (!kind || this.kinds(row) === kind) && words.every((w) => text(row).includes(w)));
    const column = this.columns.find((c) => c.key === this.sort);
    return column ? [...rows].sort((a, b) => order(column.sort(a), column.sort(b), this.down)) : rows;
  }

  #draw() {
    const rows = this.#chosen();
    fill(this.body, rows.slice(0, this.limit).map((row) => this.#row(row)));
    const shown = Math.min(this.limit, rows.length);
    const said = rows.length === this.rows.length ? `${rows.length} rows` : `${rows.length} of ${this.rows.length} rows`;
    fill(
      this.foot,
      el("span", {}, rows.length ? `${said}${shown < rows.length ? `, ${shown} shown` : ""}` : this.rows.length ? "No row matches the filter." : "Nothing yet."),
      shown < rows.length && el("button", { type: "button", onclick: () => { this.limit += 5 * STEP; this.#draw(); } }, "Show more"),
    );
  }

  #row(row) {
    const go = this.open && ((event) => { if (!event.target.closest("a, button")) this.open(row); });
    const key = this.open && ((event) => { if (event.key === "Enter" && event.target === event.currentTarget) this.open(row); });
    return el(
      "tr",
      { class: [this.open && "link", this.rowClass?.(row)].filter(Boolean).join(" "), tabindex: this.open && "0", onclick: go, onkeydown: key },
      this.columns.map((c) => el("td", { class: [c.num && "num", c.wide].filter(Boolean).join(" ") }, c.cell(row) ?? "–")),
    );
  }
}

// What is not known comes last, whichever way the table is sorted.
function order(a, b, down) {
  const [noA, noB] = [a, b].map((v) => v === null || v === undefined || v === "");
  if (noA || noB) return Number(noA) - Number(noB);
  const way = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  return down ? -way : way;
}

// A small table without tools, for a handful of rows.
export const plainTable = (titles, rows, numbers = []) =>
  el(
    "div",
    { class: "scroll" },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, titles.map((t, i) => el("th", { scope: "col", class: numbers.includes(i) && "num" }, t)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, i) => el("td", { class: numbers.includes(i) && "num" }, cell ?? "–"))))),
    ),
  );
