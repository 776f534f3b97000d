// A hint: the best moves with what they are worth, as bars and in numbers.

import { h, s, t } from "./dom.js";

/** @import { Advised, Table } from "./shapes.js" */

const WIDTH = 120;
const HEIGHT = 18;

/**
 * Return what an agent advises, or a sign that it thinks of it; it does not stop anybody from playing.
 * @param {Table} table
 */
export function advice({ hint, isThinkingOfHint, acts }) {
  if (isThinkingOfHint) return h("div", { class: "hint" }, thinking());
  if (!hint) return null;
  const { rows } = hint;
  const isValued = rows.some((row) => row.margin !== null);
  const ends = rows.flatMap((row) => [(row.margin ?? 0) - (row.half ?? 0), (row.margin ?? 0) + (row.half ?? 0)]);
  const low = Math.min(0, ...ends);
  const high = Math.max(0, ...ends, low + 1);
  /** @param {number} points */
  const place = (points) => 2 + ((points - low) / (high - low)) * (WIDTH - 4);
  return h(
    "div",
    { class: "hint" },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, hint.head),
          isValued && [h("td"), hint.columns.map((name) => h("th", { scope: "col" }, name))],
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
              h(
                "button",
                { "data-focus": `hint ${at}`, onclick: () => acts.choose(row.move) },
                at === 0 && "★ ",
                row.text,
              ),
            ),
            isValued && [
              h("td", {}, bar(row, place)),
              h(
                "td",
                { class: "number" },
                `${decimal(row.margin ?? 0, true)}${row.half === null ? "" : ` ± ${decimal(row.half)}`}`,
              ),
              h("td", { class: "number" }, `${Math.round((row.sweeps ?? 0) * 100)} %`),
            ],
          ),
        ),
      ),
    ),
    hint.remark && h("p", {}, hint.remark),
    isValued && h("p", {}, hint.legend),
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
