// A hint: a sentence first, then what the best moves are worth, as bars and in numbers.

import { h, s, t } from "./dom.js";

/** @import { Advised, Hint, Table } from "./shapes.js" */

const WIDTH = 120;
const HEIGHT = 18;

/**
 * Return what an agent advises, or a sign that it thinks of it; it does not stop anybody from playing.
 * @param {Table} table
 */
export function advice({ hint, isThinkingOfHint, acts }) {
  if (isThinkingOfHint) return h("div", { class: "hint" }, thinking());
  if (!hint) return null;
  const [best] = hint.rows;
  return h(
    "div",
    { class: "hint" },
    best && h("button", { "data-focus": "hint best", onclick: () => acts.choose(best.move) }, `★ ${hint.said}`),
    best && best.margin !== null && values(hint, acts.choose),
  );
}

/**
 * Return what the best moves are worth, folded until somebody wants to know.
 * @param {Hint} hint
 * @param {(move: string) => void} choose
 */
function values({ rows, head, columns, remark, legend }, choose) {
  const ends = rows.flatMap((row) => [(row.margin ?? 0) - (row.half ?? 0), (row.margin ?? 0) + (row.half ?? 0)]);
  const low = Math.min(0, ...ends);
  const high = Math.max(0, ...ends, low + 1);
  /** @param {number} points */
  const place = (points) => 2 + ((points - low) / (high - low)) * (WIDTH - 4);
  return h(
    "details",
    {},
    h("summary", { "data-focus": "hint more" }, t("hint_more")),
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, head),
          h("td"),
          columns.map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row, at) =>
          h(
            "tr",
            {},
            h(
              "th",
              { scope: "row" },
              h("button", { "data-focus": `hint ${at}`, onclick: () => choose(row.move) }, at === 0 && "★ ", row.text),
            ),
            h("td", {}, bar(row, place)),
            h(
              "td",
              { class: "number" },
              `${decimal(row.margin ?? 0, true)}${row.half === null ? "" : ` ± ${decimal(row.half)}`}`,
            ),
            h("td", { class: "number" }, `${Math.round((row.sweeps ?? 0) * 100)} %`),
          ),
        ),
      ),
    ),
    remark && h("p", {}, remark),
    h("p", {}, legend),
  );
}

/**
 * Return a margin as a bar from zero, with its interval as a line.
 * @param {Advised} row
 * @param {(points: number) => number} place
 */
function bar(row, place) {
  const margin = row.margin ?? 0;
  const [zero, end] = [place(0), place(margin)];
  const middle = HEIGHT / 2;
  return s(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: margin < 0 ? "margin minus" : "margin plus", "aria-hidden": "true" },
    s("rect", { x: Math.min(zero, end), y: 3, width: Math.abs(end - zero), height: HEIGHT - 6 }),
    row.half !== null &&
      s("path", { d: `M${place(margin - row.half)} ${middle}H${place(margin + row.half)}`, class: "interval" }),
    s("path", { d: `M${zero} 0V${HEIGHT}`, class: "zero" }),
  );
}

/** @param {number} points */
function decimal(points, isSigned = false) {
  const said = Math.abs(points).toFixed(1);
  const sign = Number(said) === 0 ? "" : points < 0 ? "−" : isSigned ? "+" : "";
  return sign + said;
}

function thinking() {
  const said = t("thinking_of_hint");
  return h("p", { class: "waiting", role: "status" }, h("progress", { "aria-label": said }), ` ${said}`);
}
