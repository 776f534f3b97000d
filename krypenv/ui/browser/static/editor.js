// The editor of positions: rules, places and cards, who is to play, and the text beside it.

import { h, t } from "./dom.js";
import { nameOf, pack, placePart } from "./editor_places.js";

/** @typedef {import("./study_types.js").Board} Board */
/** @typedef {import("./study_types.js").Editing} Editing */
/** @typedef {import("./study_types.js").Place} Place */

const WAIT = 250; // milliseconds after a key before what was typed is read
const KEYS = 600; // the same after a key that chooses
const SAVED = "position.txt"; // what the file of a position is called at first
const REST = ["captured", "stock"]; // kinds of places in which all other cards may be

/** @type {Editing} */
let editing;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;

// These outlive each drawing, so that whoever writes is not disturbed.
const felt = h("section", { class: "felt" });
const controls = h("section", { class: "panel controls" });
const said = h("div", { class: "said" });
const text = h("textarea", { spellcheck: "false", autocomplete: "off", rows: 16, "data-focus": "text", oninput: type });
const heading = h("span");
const label = h("label", { class: "text" }, heading, text);
const buttons = h("div", { class: "actions" });
const root = h(
  "main",
  { class: "editing" },
  controls,
  felt,
  h("section", { class: "panel words" }, said, label, buttons),
);

/** Return the editor as it stands. @param {Editing} given */
export function editor(given) {
  editing = given;
  const { draft } = editing;
  if (!draft) return h("main", { class: "ended" }, h("p", { role: "status" }, t("study_waiting")));
  const { board } = draft;
  felt.setAttribute("aria-label", t("editor_board"));
  if (!isTyped(felt)) felt.replaceChildren(...(board ? places(board) : []));
  controls.setAttribute("aria-label", t("editor_game"));
  if (!isTyped(controls)) controls.replaceChildren(...(board ? [rulesPart(board), turnPart(board)] : []));
  const isEmpty = board?.places.every((place) => !place.cards.length && !place.rest) && !draft.error;
  said.replaceChildren(status(draft.error || editing.checked?.error || "", isEmpty ? t("editor_help") : ""));
  if (!typing && text.value !== draft.text) text.value = draft.text;
  text.setAttribute("aria-invalid", String(Boolean(draft.error || editing.checked?.error)));
  heading.textContent = t("editor_text");
  buttons.replaceChildren(...actions(draft.text));
  return root;
}

/** Return whether somebody types there what is not sent yet. @param {HTMLElement} part */
function isTyped(part) {
  const field = document.activeElement;
  return field instanceof HTMLInputElement && part.contains(field) && field.value !== field.defaultValue;
}

/** Take what was typed into a field. @param {Event} event @returns {string} */
function typed({ currentTarget }) {
  const field = /** @type {HTMLInputElement} */ (currentTarget);
  field.defaultValue = field.value;
  return field.value;
}

function type() {
  clearTimeout(typing);
  typing = setTimeout(() => {
    typing = undefined;
    editing.ask({ do: "type", text: text.value });
  }, WAIT);
}

// ---------------------------------------------------------------------- the board

/** @param {Board} board */
function places(board) {
  const of = (/** @type {string} */ kind) => board.places.filter((place) => place.kind === kind);
  const middle = ["table", "pending", "build", "aside", "stock"].flatMap(of);
  return [
    h(
      "div",
      { class: "open-hands" },
      board.names.map((name, seat) =>
        h(
          "div",
          { class: `plaque${editing.checked?.turn === seat ? " turn" : ""}` },
          h("h2", {}, editing.checked?.turn === seat && h("span", { class: "mark", "aria-hidden": "true" }, "▶"), name),
          sweepsPart(board, seat),
          board.places.filter((place) => place.seat === seat).map((place) => part(board, place)),
        ),
      ),
    ),
    h(
      "div",
      { class: "middles" },
      middle.map((place) => part(board, place)),
      buildsPart(board),
    ),
    h(
      "div",
      { class: "bar" },
      h(
        "div",
        { class: "pack-head" },
        intoPart(board),
        h("span", { class: board.left && !board.rest ? "left" : "" }, leftOver(board)),
      ),
      pack(editing, board),
    ),
  ];
}

/** @param {Board} board */
function leftOver(board) {
  const rest = board.places.find((place) => place.rest);
  if (rest) return t("editor_rest_in", { count: board.left, place: nameOf(board, rest) });
  return t("editor_left", { count: board.left });
}

/** @param {Board} board @param {Place} place */
function part(board, place) {
  const inside = place.kind === "hand" ? t("editor_in_hand") : place.kind === "captured" ? t("editor_pile") : "";
  return placePart(editing, board, place, inside || nameOf(board, place), [
    REST.includes(place.kind) && restPart(board, place),
    place.kind === "build" && ownerPart(board, place),
  ]);
}

/** @param {Board} board @param {Place} place */
function restPart(board, place) {
  return h(
    "button",
    {
      class: "small-button",
      "data-focus": `rest ${place.key}`,
      "aria-pressed": String(place.rest),
      "aria-label": `${nameOf(board, place)}: ${t("editor_rest")}`,
      onclick: () => editing.ask({ do: "rest", to: place.key }),
    },
    t("editor_rest"),
  );
}

/** @param {Board} board @param {Place} place */
function ownerPart(board, place) {
  const set = (/** @type {string} */ value) => editing.ask({ do: "set", key: `owner ${place.value}`, value });
  return choice(`owner ${place.value}`, t("editor_owner"), seats(board, true), String(place.owner ?? ""), set);
}

/** @param {Board} board */
function buildsPart(board) {
  const free = board.builds.filter((value) => !board.places.some((place) => place.value === value));
  if (!free.length) return null;
  const set = (/** @type {string} */ value) => value && editing.ask({ do: "set", key: `build ${value}`, value: "-" });
  return h("div", { class: "spot" }, choice("build", t("editor_build"), [["", "–"], ...free.map(same)], "", set));
}

/** @param {Board} board @param {number} seat */
function sweepsPart(board, seat) {
  return h(
    "label",
    { class: "score" },
    t("editor_sweeps"),
    " ",
    h("input", {
      type: "number",
      min: 0,
      max: 99,
      value: board.sweeps[seat] ?? 0,
      "data-focus": `sweeps ${seat}`,
      "aria-label": `${board.names[seat]}: ${t("editor_sweeps")}`,
      onchange: (/** @type {Event} */ event) => {
        const number = Number(typed(event));
        if (Number.isInteger(number) && number >= 0) editing.ask({ do: "number", key: "sweeps", seat, number });
      },
    }),
  );
}

/** @param {Board} board */
function intoPart(board) {
  const known = board.places.map(
    (place) => /** @type {[string, string]} */ ([place.key, `${nameOf(board, place)} (${place.cards.length})`]),
  );
  return choice("into", t("editor_into"), known, editing.into, editing.choose);
}

// ---------------------------------------------------------------------- rules, turn, text

/** @param {Board} board */
function rulesPart(board) {
  const set = (/** @type {string} */ key) => (/** @type {string} */ value) => editing.ask({ do: "set", key, value });
  return h(
    "div",
    { class: "fields" },
    choice("preset", t("rules"), board.presets.map(same), board.preset, set("preset")),
    choice("players", t("editor_players"), board.counts.map(same), String(board.players), set("players")),
    h(
      "label",
      { class: "wide" },
      h("span", {}, t("editor_rules")),
      h("input", {
        value: board.rules,
        spellcheck: "false",
        autocomplete: "off",
        "data-focus": "rules",
        onchange: (/** @type {Event} */ event) => set("rules")(typed(event)),
      }),
    ),
  );
}

/** @param {Board} board */
function turnPart(board) {
  const { checked } = editing;
  const set = (/** @type {string} */ key) => (/** @type {string} */ value) =>
    value && editing.ask({ do: "set", key, value });
  const deals = Array.from({ length: board.deals }, (_, at) => same(at + 1));
  const last = (/** @type {string} */ value) => editing.ask({ do: "set", key: "last-capturer", value });
  const turn = checked?.turn ?? null;
  const who = turn === null ? [unknown, ...seats(board)] : seats(board);
  return h(
    "div",
    { class: "fields" },
    choice("turn", t("editor_turn"), who, String(turn ?? ""), set("turn")),
    choice("dealer", t("editor_dealer"), seats(board), String(checked?.dealer ?? board.dealer), set("dealer")),
    choice("deal", t("editor_deal"), board.deal ? deals : [unknown, ...deals], String(board.deal ?? ""), set("deal")),
    choice("last", t("editor_last"), seats(board, true), String(checked?.last ?? board.last ?? ""), last),
  );
}

/** @param {string} error @param {string} help what to do at first */
function status(error, help) {
  const { checked, say } = editing;
  if (help && !say) return h("p", { class: "status" }, help);
  if (say) return h("p", { class: "status alarm" }, say);
  if (error) return h("p", { class: "status alarm" }, h("span", { "aria-hidden": "true" }, "⚠ "), `${error}.`);
  return h("p", { class: "status" }, checked ? h("b", {}, "✓ ", checked.told) : t("editor_checking"));
}

/** @type {{ text: string, link: string }} */
const saved = { text: "", link: "" };

/** @param {string} position */
function actions(position) {
  const { draft, checked, ask } = editing;
  const isReady = checked !== null && !checked.error && !draft?.error;
  if (saved.text !== position) {
    if (saved.link) URL.revokeObjectURL(saved.link);
    Object.assign(saved, { text: position, link: URL.createObjectURL(new Blob([position], { type: "text/plain" })) });
  }
  /** @param {string} focus @param {string} name @param {() => void} onclick */
  const plain = (focus, name, onclick) => h("button", { "data-focus": focus, onclick }, name);
  return [
    h(
      "button",
      {
        class: "main",
        "data-focus": "study",
        "aria-disabled": String(!isReady),
        onclick: () => isReady && editing.study(),
      },
      t("editor_study"),
    ),
    plain("copy", t(copied === position ? "editor_copied" : "editor_copy"), () => void copy(position)),
    h("a", { class: "button", download: SAVED, href: saved.link, "data-focus": "save" }, t("editor_save")),
    h(
      "button",
      {
        "data-focus": "back",
        "aria-disabled": String(!draft?.undo),
        onclick: () => draft?.undo && ask({ do: "back" }),
      },
      t("undo"),
    ),
    plain("clear", t("editor_clear"), () => ask({ do: "clear" })),
    plain("shuffle", t("editor_shuffle"), () => ask({ do: "shuffle" })),
  ];
}

let copied = "";

/** @param {string} position */
async function copy(position) {
  try {
    await navigator.clipboard.writeText(position);
  } catch {
    text.select(); // a page that is not from this machine may not write there by itself
    document.execCommand("copy");
  }
  copied = position;
  buttons.querySelector("[data-focus=copy]")?.replaceChildren(t("editor_copied"));
}

// ---------------------------------------------------------------------- choices

/** @type {[string, string]} */
const unknown = ["", "–"];

/** @param {string | number} value @returns {[string, string]} */
const same = (value) => [String(value), String(value)];

/** @param {Board} board @param {boolean} orNone @returns {[string, string][]} */
const seats = (board, orNone = false) => [
  ...(orNone ? [unknown] : []),
  ...board.names.map((name, seat) => /** @type {[string, string]} */ ([String(seat), name])),
];

/**
 * @param {string} focus
 * @param {string} name
 * @param {[string, string][]} options their values and what they are called
 * @param {string} value
 * @param {(value: string) => void} set
 */
function choice(focus, name, options, value, set) {
  const shown = choosing.get(focus)?.value ?? value;
  const select = h(
    "select",
    { "data-focus": focus, onchange: () => choose(focus, select.value, set) },
    options.map(([each, called]) => h("option", { value: each, selected: each === shown }, called)),
  );
  return h("label", {}, h("span", {}, name), select);
}

// Keys go through options one by one, and only the one where they stop is meant.

/** @type {Map<string, { value: string, timer: ReturnType<typeof setTimeout> }>} */
const choosing = new Map();
let isByKeys = false;
addEventListener("keydown", () => {
  isByKeys = true;
});
addEventListener("pointerdown", () => {
  isByKeys = false;
});

/**
 * @param {string} focus
 * @param {string} value
 * @param {(value: string) => void} set
 */
function choose(focus, value, set) {
  clearTimeout(choosing.get(focus)?.timer);
  choosing.delete(focus);
  if (!isByKeys) return set(value);
  const timer = setTimeout(() => {
    choosing.delete(focus);
    set(value);
  }, KEYS);
  choosing.set(focus, { value, timer });
}
