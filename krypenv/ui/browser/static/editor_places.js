// The board of the editor: places with their cards, and the cards that can be put there.

import { byRank, face, short, spoken } from "./cards.js";
import { h, t } from "./dom.js";
import { dragging } from "./dragging.js";

/** @typedef {import("./study_types.js").Board} Board */
/** @typedef {import("./study_types.js").Editing} Editing */
/** @typedef {import("./study_types.js").Place} Place */

const FACES = ["hand", "table", "build", "pending"]; // places whose cards are drawn; those of the others are written
const SORTED = ["hand", "table", "aside", "captured"]; // those in which the order of cards means nothing
const SUITS = "CDHS";

/** Return what a place is called. @param {Board} board @param {Place} place */
export function nameOf(board, { kind, seat, value }) {
  const who = board.names[seat ?? 0] ?? "";
  if (kind === "hand") return t("editor_hand", { who });
  if (kind === "captured") return t("editor_captured", { who });
  if (kind === "build") return t("builds", { value: value ?? 0 });
  if (kind === "aside") return t("aside");
  if (kind === "table") return t("table");
  return kind === "stock" ? t("editor_stock") : t("editor_pending");
}

/**
 * Return a place with its cards.
 * @param {Editing} editing
 * @param {Board} board
 * @param {Place} place
 * @param {string} name as it stands there
 * @param {(Node | false)[]} more
 */
export function placePart(editing, board, place, name, more = []) {
  const isChosen = editing.into === place.key;
  const isWrong = editing.checked?.fault === place.key;
  const aloud = nameOf(board, place);
  const cards = SORTED.includes(place.kind) ? byRank(place.cards).map((at) => place.cards[at] ?? "") : place.cards;
  const isDrawn = FACES.includes(place.kind);
  return h(
    "div",
    {
      class: `spot${isChosen ? " into" : ""}${isWrong ? " wrong" : ""}`,
      role: "group",
      "aria-label": `${aloud}: ${place.rest ? t("editor_is_rest") : place.cards.length}`,
      "data-place": place.key,
      onclick: (/** @type {MouseEvent} */ event) => event.target === event.currentTarget && editing.choose(place.key),
    },
    h(
      "div",
      { class: "spot-head" },
      h(
        "button",
        {
          class: "spot-name",
          "data-focus": `place ${place.key}`,
          "aria-pressed": String(isChosen),
          "aria-label": aloud,
          title: t("editor_choose"),
          onclick: () => editing.choose(place.key),
        },
        isWrong && h("span", { "aria-hidden": "true" }, "⚠ "),
        isChosen && h("span", { "aria-hidden": "true" }, "▶ "),
        name,
        " ",
        h("b", {}, place.rest ? "" : place.cards.length),
      ),
      more,
    ),
    place.rest && h("p", { class: "is-rest" }, t("editor_is_rest")),
    h(
      "div",
      { class: isDrawn ? "cards" : "chips", onkeydown: walk },
      cards.map((card, at) => cardButton(editing, place, card, at, isDrawn, tabbed(place.key, cards))),
    ),
  );
}

/**
 * @param {Editing} editing
 * @param {Place} place
 * @param {string} card
 * @param {number} at
 * @param {boolean} isDrawn
 * @param {number} first which card of the place Tab leads to
 */
function cardButton(editing, place, card, at, isDrawn, first) {
  const isChosen = editing.into === place.key;
  return h(
    "button",
    {
      class: isDrawn ? "card" : `chip ${colour(card)}`,
      "data-focus": `card ${place.key} ${at}`,
      tabindex: at === first ? 0 : -1,
      "aria-label": spoken(card),
      title: isChosen ? t("editor_take_away") : t("editor_choose"),
      onclick: () => (isChosen ? editing.ask({ do: "put", card, from: place.key, to: "" }) : editing.choose(place.key)),
      onpointerdown: (/** @type {PointerEvent} */ event) => drag(event, editing, card, place.key),
    },
    isDrawn ? face(card) : short(card),
  );
}

/** Return all cards of the pack, from which places are filled. @param {Editing} editing @param {Board} board */
export function pack(editing, board) {
  const into = board.places.find((place) => place.key === editing.into);
  const names = board.deck.map((each) => each.card);
  const first = tabbed("pack", names);
  return h(
    "div",
    { class: "pack", role: "group", "aria-label": t("editor_pack"), "data-place": "", onkeydown: walk },
    [...SUITS].map((suit) =>
      h(
        "div",
        { class: "suit" },
        board.deck.map(({ card, left }, at) => {
          if (card.charAt(1) !== suit) return null;
          const count = into?.cards.filter((each) => each === card).length ?? 0;
          const aloud = [spoken(card), t("editor_left_of", { count: left })];
          if (count) aloud.push(t("editor_here", { count }));
          return h(
            "button",
            {
              class: `chip ${colour(card)}${left ? "" : " gone"}${count ? " here" : ""}`,
              "data-focus": `pack ${card}`,
              tabindex: at === first ? 0 : -1,
              "aria-label": aloud.join(", "),
              onclick: () => editing.ask({ do: "put", card, to: editing.into }),
              onpointerdown: (/** @type {PointerEvent} */ event) => left > 0 && drag(event, editing, card, ""),
            },
            short(card),
            left > 1 && h("small", { "aria-hidden": "true" }, left),
          );
        }),
      ),
    ),
  );
}

/** @param {string} card */
const colour = (card) => ("DH".includes(card.charAt(1)) ? "red" : "black");

/**
 * Drag a card to another place by the mouse; a finger scrolls, and taps.
 * @param {PointerEvent} event
 * @param {Editing} editing
 * @param {string} card
 * @param {string} from
 */
function drag(event, editing, card, from) {
  if (event.pointerType === "touch") return;
  const kind = event.currentTarget instanceof HTMLElement ? event.currentTarget.className : "";
  /** @param {number} x @param {number} y */
  const drop = (x, y) => {
    const found = document.elementsFromPoint(x, y).flatMap((each) => each.closest("[data-place]") ?? [])[0];
    const to = found?.getAttribute("data-place") ?? from;
    if (to !== from) editing.ask({ do: "put", card, from, to });
  };
  dragging(event, () => true, drop, kind);
}

// ---------------------------------------------------------------------- keys

/** @type {Map<string, string>} */
const visited = new Map(); // which card had the focus last, by its place

document.addEventListener("focusin", ({ target }) => {
  const focus = target instanceof HTMLElement ? (target.dataset.focus ?? "") : "";
  const [kind, ...words] = focus.split(" ");
  if (kind === "pack") visited.set("pack", words.join(" "));
  if (kind === "card") visited.set(words.slice(0, -1).join(" "), words.at(-1) ?? "");
});

/** Return to which of some cards Tab leads: to where the focus was last. @param {string} key @param {string[]} cards */
function tabbed(key, cards) {
  const last = visited.get(key) ?? "";
  const at = key === "pack" ? cards.indexOf(last) : Number(last);
  return Math.max(0, Math.min(at, cards.length - 1));
}

/** Go from card to card by the arrow keys; up and down to the nearest one of another row. @param {KeyboardEvent} event */
function walk(event) {
  const { currentTarget, target } = event;
  if (!(currentTarget instanceof HTMLElement) || !(target instanceof HTMLElement)) return;
  const all = [...currentTarget.querySelectorAll("button")];
  const at = all.indexOf(/** @type {HTMLButtonElement} */ (target));
  if (at < 0) return;
  const steps = /** @type {Record<string, number>} */ ({ ArrowRight: 1, ArrowLeft: -1 });
  const rows = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1 });
  const step = steps[event.key];
  const row = rows[event.key];
  const ends = /** @type {Record<string, HTMLElement | undefined>} */ ({ Home: all[0], End: all.at(-1) });
  const next = step ? all[(at + step + all.length) % all.length] : row ? beyond(all, target, row) : ends[event.key];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/**
 * @param {HTMLElement[]} all
 * @param {HTMLElement} from
 * @param {number} way 1 for down, -1 for up
 */
function beyond(all, from, way) {
  const own = from.getBoundingClientRect();
  const rows = all
    .map((each) => ({ each, box: each.getBoundingClientRect() }))
    .filter(({ box }) => (box.top - own.top) * way > own.height / 2);
  const nearest = Math.min(...rows.map(({ box }) => (box.top - own.top) * way));
  const inRow = rows.filter(({ box }) => (box.top - own.top) * way < nearest + own.height / 2);
  inRow.sort((one, two) => Math.abs(one.box.left - own.left) - Math.abs(two.box.left - own.left));
  return inRow[0]?.each;
}
