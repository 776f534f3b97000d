// The page: its connection to the server, what the person does, and drawing what the server tells.

import { chosenBy, fitting, nothing, written } from "./choosing.js";
import { connect } from "./connection.js";
import { closeDialog, showLinks, showPile, showRules, showValues } from "./dialogs.js";
import { drawEnd, setTexts, t } from "./dom.js";
import { draw, drawMiddle } from "./drawing.js";
import { hurry, shown } from "./flying.js";
import { keep, kept } from "./kept.js";
import { whenReleased } from "./pressed.js";
import { drawWait, start } from "./start.js";

const PACE = "krypenv pace"; // under which this browser keeps how fast agents are to play

const MOST_WAITING = 2; // messages

/** @type {Table | null} */
let table = null;
/** @type {any[]} */
const waiting = [];

// ---------------------------------------------------------------------- the connection

const send = connect(
  document.documentElement.dataset.socket ?? "socket",
  hearInTurn,
  () => {
    if (!table) return;
    table.isLost = true;
    draw(table);
  },
  drawEnd,
);

/**
 * Hear a message once the play before it has been shown, or sooner where several wait.
 * @param {any} message
 */
async function hearInTurn(message) {
  waiting.push(message);
  if (waiting.length > 1) return;
  while (waiting[0]) {
    if (waiting.length <= MOST_WAITING) await shown();
    const next = waiting.shift();
    if (next) whenReleased(() => hear(next));
  }
}

/** @param {any} message */
function hear(message) {
  if (message.texts) setTexts(message.texts);
  if (message.language) document.documentElement.lang = message.language;
  if (message.type !== "table") {
    table = null;
    return message.type === "start" ? start(message, send) : drawWait(t(message.for ? "wait_host" : "wait_dealing"));
  }
  if (message.ended) return drawEnd(message.ended);
  const before = table?.told ?? null;
  table ??= { told: message, chosen: nothing(), say: "", hint: null, isThinkingOfHint: false, isLost: false, acts };
  table.told = message;
  const isSame = before?.edit === message.edit;
  if (!isSame || table.isLost) forget(table); // a server that was started again may have another game
  if (message.say !== undefined) {
    table.say = message.say;
    table.isThinkingOfHint = false;
    if (document.documentElement.dataset.socket) table.chosen = nothing(); // in a lesson nothing is left to complete
  }
  if (message.hint) {
    table.isThinkingOfHint = false;
    table.hint = message.hint;
  }
  table.isLost = false;
  draw(table, before);
  document.dispatchEvent(new CustomEvent("told", { detail: message }));
  if (!before) {
    if (message.links.length && message.here.length < message.people.length) showLinks(message.links);
    const pace = kept(PACE, /** @type {Pace} */ ("normal"));
    if (message.leads && pace !== "normal") ask({ do: "pace", pace });
  }
}

/**
 * Forget what was chosen and said: something has happened at the table.
 * @param {Table} table
 */
function forget(table) {
  table.chosen = nothing();
  table.hint = null;
  table.isThinkingOfHint = false;
  table.say = "";
}

/**
 * Ask the server for something, of the state that the page shows.
 * @param {{ do: string, move?: string, seat?: number, pace?: Pace, on?: boolean }} request
 */
function ask(request) {
  if (table && !table.isLost) send({ edit: table.told.edit, ...request });
}

// ---------------------------------------------------------------------- what the person does

/**
 * Return what is done at a click: something with the table, which is drawn anew.
 * @template {unknown[]} Given
 * @param {(table: Table, ...given: Given) => void} change
 * @returns {(...given: Given) => void}
 */
const doing =
  (change) =>
  (...given) => {
    if (!table) return;
    table.say = "";
    change(table, ...given);
    draw(table, table.told);
  };

const acts = {
  card: doing(chooseCard),
  pick: doing(toggle),
  choose: doing((table, /** @type {string} */ move) => {
    table.chosen = chosenBy(table.told.view, move);
  }),
  clear: doing((table) => {
    table.chosen = nothing();
  }),
  /** @param {string} move */
  play(move) {
    hurry();
    ask({ do: "play", move });
  },
  /** Play what is picked. */
  written: () => table && ask({ do: "play", move: written(table.told.view, table.chosen) }),
  rules: () => table && void showRules(table.told.of),
  links: () => table && showLinks(table.told.links),
  start: () => send({ do: "start" }),
  hint: doing((table) => {
    table.isThinkingOfHint = true;
    ask({ do: "hint" });
  }),
  values() {
    if (!table?.hint) return;
    showValues(table.hint, (move) => {
      closeDialog();
      acts.choose(move);
    });
  },
  ask: doing((_, /** @type {"undo" | "next" | "again" | "go" | "step" | "end"} */ what) => ask({ do: what })),
  /** Have an agent play for a person who is gone. @param {number} seat */
  standIn: (seat) => ask({ do: "stand_in", seat }),
  /** @param {Pace} pace */
  pace(pace) {
    keep(PACE, pace);
    ask({ do: "pace", pace });
  },
  /** @param {boolean} on */
  pause: (on) => ask({ do: "pause", on }),
  pile: showPile,
  /** Choose a card to be dragged; return whether it may be played. @param {number} place @returns {boolean} */
  lift: (place) => (table ? lift(table, place) : false),
  drop: doing(drop),
};
/** @typedef {typeof acts} Acts what a person may do */

/**
 * Raise a card of the hand, or lower it; a double click plays it where it has one move only.
 * @param {Table} table
 * @param {number} place
 */
function chooseCard(table, place, isDouble = false) {
  const { view } = table.told;
  const card = view.hand[place];
  if (card === undefined) return;
  const isRaised = table.chosen.place === place && !isDouble;
  const chosen = isRaised ? nothing() : { ...nothing(), card, place };
  const moves = isRaised ? null : fitting(view, chosen);
  if (isDouble && moves?.length === 1 && moves[0]) return ask({ do: "play", move: moves[0].move });
  table.say = moves?.length === 0 ? (view.whys[card] ?? "") : "";
  table.chosen = moves?.length === 0 ? nothing() : chosen;
}

/**
 * Choose a card that is dragged over the table; return whether it may be played.
 * @param {Table} table
 * @param {number} place
 */
function lift(table, place) {
  if (table.chosen.place !== place) {
    table.chosen = nothing();
    table.say = "";
    chooseCard(table, place);
  }
  if (table.chosen.place === place) drawMiddle(table);
  else draw(table, table.told);
  return table.chosen.place === place;
}

/**
 * Lay the chosen card on something: what is then clear is played, and otherwise there is more to choose.
 * @param {Table} table
 * @param {string} on
 */
function drop(table, on) {
  const { view } = table.told;
  const { chosen } = table;
  if (on && on !== "table") {
    if (!chosen.picked.has(on)) toggle(table, on);
    if (!chosen.picked.has(on)) return; // it does not go with the card
  }
  const moves = fitting(view, chosen) ?? [];
  const left = moves.filter((move) => move.kind === "leave");
  const only = moves.length === 1 ? moves[0] : on === "table" && left.length === 1 ? left[0] : undefined;
  if (!on) table.chosen = nothing();
  else if (only) ask({ do: "play", move: only.move });
}

/**
 * Pick something on the table, or leave it after all.
 * @param {Table} table
 * @param {string} what
 */
function toggle(table, what) {
  const { picked } = table.chosen;
  if (picked.delete(what)) return;
  picked.add(what);
  const { view } = table.told;
  if (fitting(view, table.chosen)?.length !== 0) return;
  ask({ do: "play", move: written(view, table.chosen) }); // no move has these cards: the server says why
  picked.delete(what);
}

// A lesson beside the table asks through the table's connection.
document.addEventListener("ask", (event) => {
  if (event instanceof CustomEvent) send(event.detail);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && table?.chosen.card) acts.clear();
});
