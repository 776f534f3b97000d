// How fast agents play, and what who only watches may do.

import { button, h, t } from "./dom.js";
import { status } from "./place.js";

/** @import { Pace, Table } from "./shapes.js" */

/** @type {Pace[]} */
const PACES = ["slow", "normal", "fast"];

/**
 * Return the choice of a pace, where there are agents and the page may choose.
 * @param {Table} table
 */
export function paceControl({ told, acts }) {
  if (!told.leads || told.people.length === told.view.players.length) return null;
  const named = { slow: t("pace.slow"), normal: t("pace.normal"), fast: t("pace.fast") };
  return h(
    "label",
    { class: "pace" },
    h("span", `${t("pace")} `),
    h(
      "select",
      {
        "data-focus": "pace",
        onchange: (/** @type {Event} */ event) => {
          const pace = PACES.find((each) => event.target instanceof HTMLSelectElement && each === event.target.value);
          if (pace) acts.pace(pace);
        },
      },
      PACES.map((pace) => h("option", { value: pace, selected: pace === told.pace }, named[pace])),
    ),
  );
}

/**
 * Return what is to be said to who watches, and where only agents play what may be done.
 * @param {Table} table
 */
export function watching(table) {
  const { told, acts } = table;
  const { view } = told;
  const alarm = table.isLost ? t("lost") : table.say || told.fault;
  const isGoing = !view.over && told.leads;
  return h(
    "div",
    { class: "bar prompt" },
    h(
      "p",
      { tabindex: 0, class: alarm ? "status alarm" : "status" },
      alarm || (view.over ? t("watching") : status(table)),
    ),
    told.leads &&
      h(
        "div",
        { class: "actions" },
        told.stuck && button("retry", t("retry"), () => acts.ask("go"), "main"),
        isGoing && button("pause", told.paused ? t("go_on") : t("pause"), () => acts.pause(!told.paused), "main"),
        isGoing && told.paused && button("step", t("step"), () => acts.ask("step")),
        view.over && !view.session_over && button("next", t("next"), () => acts.ask("next"), "main"),
      ),
  );
}
