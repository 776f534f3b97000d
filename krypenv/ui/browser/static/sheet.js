// The score sheet at the end of a game: every point by its source.

import { button, h, points, t } from "./dom.js";

/** @import { Table } from "./shapes.js" */

/**
 * Return the sheet, with who won above it.
 * @param {Table} table
 */
export function sheet({ told, acts }) {
  const { view } = told;
  if (!view.sheet) return null;
  const { names, entries, scores, sides, totals } = view.sheet;
  return h(
    "div",
    { class: "sheet" },
    h("h2", {}, view.result),
    told.compared && h("p", {}, told.compared),
    told.leads &&
      h(
        "div",
        { class: "actions" },
        view.session_over && told.host && button("end new", t("new"), acts.start, "main"),
        button("end again", t("again"), acts.again),
        h("a", { class: "button", "data-focus": "end study", href: `study.html${location.hash}` }, t("study")),
      ),
    h(
      "div",
      { class: "wide", tabindex: 0, role: "region", "aria-label": t("sheet") },
      h(
        "table",
        {},
        h("caption", { class: "unseen" }, t("sheet")),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("td"),
            names.map((name) => h("th", { scope: "col" }, name)),
          ),
        ),
        h(
          "tbody",
          {},
          entries.map((entry) =>
            row(
              entry.label,
              entry.points.map((each) => (each ? points(each) : "")),
            ),
          ),
        ),
        h(
          "tfoot",
          {},
          row(
            t("sheet.score"),
            scores.map((each) => points(each)),
            "sum",
          ),
          sides.length > 0 &&
            row(
              t("side"),
              sides.map((each) => points(each)),
              "sum",
            ),
          totals.length > 0 &&
            row(
              t("totals"),
              totals.map((each) => points(each)),
              "sum",
            ),
        ),
      ),
    ),
  );
}

/**
 * @param {string} label
 * @param {string[]} cells
 */
function row(label, cells, kind = "") {
  return h(
    "tr",
    { class: kind },
    h("th", { scope: "row" }, label),
    cells.map((cell) => h("td", {}, cell)),
  );
}
