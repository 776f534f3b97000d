// What an agent advises: a sentence in the prompt, and in a dialog what the best moves are worth, as bars and in numbers.

import { open } from "./dialogs.js";
import { grid, h, s, signed, t } from "./dom.js";

/** @import { Advised, Hint, Table } from "./shapes.js" */

const WIDTH = 120;
const HEIGHT = 18;

/**
 * Return what an agent advises, or a sign that it thinks of it; it does not stop anybody from playing.
 * @param {Table} table
 */
export function advice({ hint, isThinkingOfHint, acts }) {
  const said = t("thinking_of_hint");
  if (isThinkingOfHint)
    return h("span", { class: "hint", role: "status" }, h("progress", { "aria-label": said }), ` ${said}`);
  const [best] = hint?.rows ?? [];
  const choose = () => best && acts.choose(best.move);
  return best && h("button", { class: "hint", "data-focus": "hint best", onclick: choose }, `★ ${hint?.said}`);
}

/**
 * Show what the best moves are worth; one that is clicked is chosen.
 * @param {Hint} hint
 * @param {(move: string) => void} choose
 */
export function showValues({ rows, head, columns, remark, legend }, choose) {
  const ends = rows.flatMap((row) => [(row.margin ?? 0) - (row.half ?? 0), (row.margin ?? 0) + (row.half ?? 0)]);
  const low = Math.min(0, ...ends);
  const high = Math.max(0, ...ends, low + 1);
  /** @param {number} margin */
  const place = (margin) => 2 + ((margin - low) / (high - low)) * (WIDTH - 4);
  const lines = rows.map((row, at) => {
    const named = { "data-focus": `hint ${at}`, onclick: () => choose(row.move) };
    const half = row.half === null ? "" : ` ± ${row.half.toFixed(1)}`;
    const margin = signed(row.margin ?? 0, 1) + half;
    const text = h("button", named, at === 0 && "★ ", row.text);
    return [text, bar(row, place), margin, `${Math.round((row.sweeps ?? 0) * 100)} %`];
  });
  open(t("hint_more"), [
    grid("values", t("hint_more"), [head, "", ...columns], lines),
    remark && h("p", remark),
    h("p", legend),
  ]);
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
