// Dialogs: the rules, and whether a game is to be given up.

import { button, h, t } from "./dom.js";

/** @import { Table } from "./shapes.js" */

const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("dialog"));
const close = () => dialog.close();

/**
 * Show the rules.
 * @param {Table} table
 */
export function showRules(table) {
  open(table.told.view.title, [
    h(
      "dl",
      {},
      table.rules.map(([heading, line]) => [h("dt", {}, heading), h("dd", {}, line)]),
    ),
    button("close", t("close"), close, "main"),
  ]);
}

/**
 * Ask whether a game is to be given up.
 * @param {() => void} yes what is done then
 */
export function askIfSure(yes) {
  const sure = () => {
    close();
    yes();
  };
  open(t("sure"), [
    h("div", { class: "actions" }, button("yes", t("yes"), sure, "main"), button("no", t("no"), close)),
  ]);
}

/**
 * @param {string} title
 * @param {HTMLElement[]} inner
 */
function open(title, inner) {
  dialog.replaceChildren(h("h2", { id: "dialog-title" }, title), ...inner);
  dialog.showModal();
}
