// The score sheet at the end of a game: every point by its source.

import { h, signed, t } from "./dom.js";

/** Return the sheet, with who won above it. */
export function sheet({ told, do: act }) {
  const { view } = told;
  const { names, entries, scores, sides, totals } = view.sheet;
  const row = (label, cells, kind = "") => h("tr", { class: kind }, h("th", { scope: "row" }, label), cells.map((cell) => h("td", {}, cell)));
  const plain = (numbers) => numbers.map((number) => String(number).replace("-", "−"));
  return h(
    "div",
    { class: "sheet" },
    h("h2", {}, view.result),
    h(
      "div",
      { class: "wide", tabindex: 0, role: "region", "aria-label": t("sheet") },
      h(
        "table",
        {},
        h("caption", { class: "unseen" }, t("sheet")),
        h("thead", {}, h("tr", {}, h("td"), names.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, entries.map((entry) => row(entry.label, entry.points.map((points) => (points ? signed(points) : ""))))),
        h("tfoot", {}, row(t("score"), plain(scores), "sum"), sides.length > 0 && row(t("side"), plain(sides), "sum"), totals.length > 0 && row(t("totals"), plain(totals), "sum")),
      ),
    ),
    view.seat !== null && h(
      "div",
      { class: "actions" },
      view.session_over && h("button", { class: "main", "data-focus": "end new", onclick: () => act("new") }, t("new")),
      h("button", { "data-focus": "end again", onclick: () => act("again") }, t("again")),
    ),
  );
}
