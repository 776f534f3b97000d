// The score sheet at the end of a game: every point by its source.

import { button, grid, h, points, t } from "./dom.js";

/** @import { Table } from "./shapes.js" */

/**
 * Return the sheet, with who won above it.
 * @param {Table} table
 */
export function sheet({ told, acts }) {
  const { view } = told;
  if (!view.sheet) return null;
  const { names, entries, scores, sides, totals } = view.sheet;
  const lines = entries.map((entry) => [entry.label, ...entry.points.map((each) => (each ? points(each) : ""))]);
  const sums = /** @type {[string, number[]][]} */ ([
    ["sheet.score", scores],
    ["side", sides],
    ["totals", totals],
  ])
    .filter(([, each]) => each.length > 0)
    .map(([key, each]) => [t(key), ...each.map((score) => points(score))]);
  return h(
    "div",
    { class: "sheet" },
    h("h2", view.result),
    told.compared && h("p", told.compared),
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
      grid("", t("sheet"), ["", ...names], lines, sums),
    ),
  );
}
