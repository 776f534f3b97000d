// What an agent advises: a sentence in the prompt, and in a dialog what the best moves are worth, in numbers and as bars.

import { open } from "./dialogs.js";
import { h, t, worths } from "./dom.js";

/**
 * Return what an agent advises, or a sign that it thinks of it; it does not stop anybody from playing.
 * @param {Table} table
 */
export function advice({ hint, isThinkingOfHint, acts }) {
  const said = t("thinking_of_hint");
  if (isThinkingOfHint) return h("span.hint", { role: "status" }, h("progress", { "aria-label": said }), ` ${said}`);
  const [best] = hint?.rows ?? [];
  const choose = () => best && acts.choose(best.move);
  return best && h("button.hint", { "data-focus": "hint best", onclick: choose }, `★ ${hint?.said}`);
}

/**
 * Show what the best moves are worth; one that is clicked is chosen.
 * @param {Hint} hint
 * @param {(move: string) => void} choose
 */
export function showValues({ rows, head, columns, remark, legend }, choose) {
  const lines = rows.map((row, at) => {
    const named = { "data-focus": `hint ${at}`, onclick: () => choose(row.move) };
    return { ...row, button: h("button", named, at === 0 && "★ ", row.text) };
  });
  open(t("hint_more"), [
    worths("values", t("hint_more"), [head, "", ...columns], lines),
    remark && h("p", remark),
    h("p", legend),
  ]);
}
