// The start screen: what is played, by whom, and in which language; on a first visit, three buttons.

import { lying } from "./cards.js";
import { showRules } from "./dialogs.js";
import { button, h, menu, refocus, setTexts, t } from "./dom.js";
import { keep, kept } from "./kept.js";

const PERSON = "person";
const KEPT = "krypenv choice"; // under which this browser keeps the last choice
const page = /** @type {HTMLElement} */ (document.getElementById("page"));
/** @type {Choice} */
const FIRST = {
  game: "krypkasino",
  size: "2/0",
  players: [PERSON, "greedy"],
  names: [],
  changes: "",
  seed: "",
  helper: "champion",
};

/** @type {Offer} */
const offer = { games: [], levels: [], languages: [], saved: [], key: "", now: null, begun: false };
const last = kept(KEPT, /** @type {Partial<Choice> | null} */ (null));
const choice = { ...structuredClone(FIRST), ...last };
let isOwn = Boolean(last); // whether the choice is the person's, and not what is played
let isFirst = !last; // whether only the three buttons are shown
/** @type {(request: object) => void} */
let send = () => {};

/**
 * Take what the server offers, and draw it.
 * @param {any} message
 * @param {(request: object) => void} ask
 */
export function start({ type: _, texts, language, ...told }, ask) {
  if (texts) setTexts(texts);
  if (language) document.documentElement.lang = language;
  Object.assign(offer, { say: "" }, told);
  send = ask;
  if (!isOwn) Object.assign(choice, offer.now);
  if (location.hash.slice(1) !== offer.key) history.replaceState(null, "", `#${offer.key}`);
  if (offer.games.length) draw();
}

/**
 * Draw the reason to wait, with links to the rules and the lessons.
 * @param {string} why
 */
export function drawWait(why) {
  page.replaceChildren(
    h(
      "main.start.waiting",
      h("p.shuffling", { "aria-hidden": "true" }, "♣ ♦ ♥ ♠"),
      h("p", { role: "status" }, why),
      h("div.actions", rulesButton(), document.documentElement.dataset.socket !== "learn" && teach("button")),
    ),
  );
}

function draw() {
  const active = document.activeElement;
  const isWelcome = isFirst && !offer.begun;
  page.removeAttribute("aria-busy");
  document.title = t("start_title");
  page.replaceChildren(
    h(
      "header",
      h("h1", t("start_title")),
      h("nav", languages(), rulesButton(), !isWelcome && [teach("button"), study()]),
    ),
    h("main.start", offer.say && h("p.status.alarm", { role: "alert" }, offer.say), isWelcome ? welcome() : form()),
  );
  refocus(active);
}

function welcome() {
  const isTaught = kept("krypenv lesson", 0) > 0; // as the page of lessons keeps it
  return h(
    "section.welcome",
    h(
      "p.fan",
      { "aria-hidden": "true" },
      ["2S", "TD", "AS"].map((card) => lying(card)),
    ),
    h("p.goal", t("start_goal")),
    teach(`button large${isTaught ? "" : " main"}`),
    button("play", t("start_play"), () => begin(FIRST), isTaught ? "large main" : "large"),
    offer.saved.length > 0 && saved(),
    button("choose", t("start_choose"), () => {
      isFirst = false;
      draw();
    }),
  );
}

/** @param {string} kind */
const teach = (kind) =>
  h("a", { class: kind, "data-focus": "teach", href: `learn.html${location.hash}` }, t("start_teach"));

const study = () => h("a.button", { href: `study.html${location.hash}` }, t("start_study"));

const rulesButton = () => button("rules", t("rules"), () => void showRules(rulesOf(choice)));

function languages() {
  const language = document.documentElement.lang;
  return menu("language", t("start_language"), offer.languages, language, (language) =>
    send({ do: "start", language }),
  );
}

function saved() {
  return h(
    "section.saved",
    h("h2", t("start_saved")),
    offer.saved.map(({ file, text }) =>
      button(`saved ${file}`, text, () => leave({ do: "resume", file }), "", { title: file }),
    ),
  );
}

function form() {
  const game = gameOf(choice);
  const [big, small] = [false, true].map((isSmall) => offer.games.filter((each) => each.small === isSmall));
  return [
    offer.saved.length > 0 && saved(),
    h(
      "form",
      {
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          begin(choice);
        },
      },
      h(
        "fieldset.seats",
        h("legend", t("start_who")),
        menu("size", t("start_players"), game.sizes.map(sizeText), choice.size, (size) => change({ size })),
        choice.players.map(seatChoice),
        people() > 1 && h("p.note", t("start_links")),
        menu("helper", t("start_hints"), helpers(), choice.helper, (helper) => change({ helper })),
        more(),
      ),
      h(
        "fieldset.games",
        h("legend", t("start_game")),
        big?.map(gameChoice),
        h("details", { open: game.small }, h("summary", t("start_small")), small?.map(gameChoice)),
      ),
      h(
        "div.actions",
        h("button.main.large", { "data-focus": "begin" }, t("start_begin")),
        offer.begun && button("back", t("start_back"), () => send({ do: "back" }), "", { type: "button" }),
      ),
    ),
  ];
}

/** @param {Game} game */
function gameChoice({ name, title, line }) {
  const chosen = {
    type: "radio",
    name: "game",
    value: name,
    checked: choice.game === name,
    "data-focus": `game ${name}`,
  };
  return h(
    "label.game",
    h("input", { ...chosen, onchange: () => change({ game: name }) }),
    h("b", title),
    h("span", line),
  );
}

/**
 * @param {string} player
 * @param {number} seat
 */
function seatChoice(player, seat) {
  const [players = 0, teams = 0] = choice.size.split("/").map(Number);
  const partners = teams
    ? Array.from({ length: players }, (_, at) => at).filter((at) => at !== seat && at % teams === seat % teams)
    : [];
  const isKnown = player === PERSON || offer.levels.some((level) => level.agent === player);
  /** @type {[string, string][]} */
  const options = [
    [PERSON, seat === choice.players.indexOf(PERSON) ? t("start_you") : t("start_person")],
    ...offer.levels.map((level) => /** @type {[string, string]} */ ([level.agent, level.text])),
    ["", t("start_agent")],
  ];
  const label = t("start_seat", { letter: letterOf(seat) });
  return h(
    "div.seat",
    menu(`seat ${seat}`, label, options, isKnown ? player : "", (chosen) => seatAs(seat, chosen)),
    !isKnown && field(`agent ${seat}`, t("start_agent_name"), player, (value) => seatAs(seat, value, false)),
    player === PERSON &&
      field(`name ${seat}`, t("start_name"), choice.names[seat] ?? "", (value) => {
        choice.names[seat] = value;
      }),
    partners.length > 0 && h("small", t("start_partner", { seats: partners.map(letterOf).join(", ") })),
  );
}

function more() {
  return h(
    "details",
    { open: Boolean(choice.seed || choice.changes) },
    h("summary", t("start_more")),
    field("seed", t("start_seed"), choice.seed, (value) => {
      choice.seed = value;
    }),
    field("changes", t("start_changes"), choice.changes, (value) => {
      choice.changes = value;
    }),
  );
}

// ---------------------------------------------------------------------- parts

/**
 * @param {string} focus
 * @param {string} label
 * @param {string} value
 * @param {(value: string) => void} take
 */
function field(focus, label, value, take) {
  const oninput = (/** @type {Event} */ event) => {
    if (event.target instanceof HTMLInputElement) take(event.target.value.trim());
  };
  return h("label.field", `${label} `, h("input", { "data-focus": focus, value, oninput, maxlength: 200 }));
}

/** @returns {[string, string][]} */
function helpers() {
  const isKnown = offer.levels.some((level) => level.agent === choice.helper);
  const own = { agent: choice.helper, text: choice.helper };
  const levels = choice.helper && !isKnown ? [...offer.levels, own] : offer.levels;
  return [
    ["", t("start_no_hints")],
    ...levels.map(({ agent, text }) => /** @type {[string, string]} */ ([agent, text])),
  ];
}

/**
 * @param {[number, number]} size
 * @returns {[string, string]}
 */
function sizeText([players, teams]) {
  const text = teams ? t("start_teams", { players, teams }) : t("start_alone", { players });
  return [`${players}/${teams}`, text];
}

// ---------------------------------------------------------------------- the choice

/** @param {Choice} of */
const gameOf = (of) => /** @type {Game} */ (offer.games.find((game) => game.name === of.game) ?? offer.games[0]);

/** @param {number} seat */
const letterOf = (seat) => String.fromCharCode(65 + seat); // as in the names of those who sit there

const people = () => choice.players.filter((player) => player === PERSON).length;

/** @param {Choice} of */
function rulesOf({ game, size, changes }) {
  const [players, teams] = size.split("/");
  return [game, `players=${players}`, teams !== "0" && `teams=${teams}`, changes].filter(Boolean).join(" ");
}

/**
 * Change the choice; where the number of players is another, agents join or leave.
 * @param {Partial<Choice>} changes
 */
function change(changes) {
  isOwn = true;
  Object.assign(choice, changes);
  const sizes = gameOf(choice).sizes.map((size) => size.join("/"));
  if (!sizes.includes(choice.size)) choice.size = sizes[0] ?? "2/0";
  const count = Number(choice.size.split("/")[0]);
  const last = [...choice.players].reverse().find((player) => player !== PERSON) ?? "greedy";
  choice.players = Array.from({ length: count }, (_, seat) => choice.players[seat] ?? last);
  draw();
}

/**
 * @param {number} seat
 * @param {string} player
 */
function seatAs(seat, player, isDrawn = true) {
  isOwn = true;
  choice.players[seat] = player;
  if (isDrawn) draw();
}

/** @param {Choice} chosen */
function begin(chosen) {
  isOwn = true;
  keep(KEPT, { ...chosen, seed: "" });
  const { players, helper, seed } = chosen;
  const names = players.map((player, seat) => (player === PERSON && chosen.names[seat]) || "");
  const language = document.documentElement.lang;
  const dealt = /^\d+$/.test(seed) ? { seed: Number(seed) } : {};
  leave({ do: "begin", rules: rulesOf(chosen), players, names, helper, language, ...dealt });
}

/** @param {object} request */
function leave(request) {
  isFirst = false;
  send(request);
  drawWait(t("wait_dealing"));
}
