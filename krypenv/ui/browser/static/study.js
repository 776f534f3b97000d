// The page on which a game is studied: its connection to the server, keys and files.

import { connect } from "./connection.js";
import { drawEnd, setTexts, t } from "./dom.js";
import { whenReleased } from "./pressed.js";
import { drawStudy, readAloud } from "./study_drawing.js";
import { mistakes, verdictOfTry } from "./study_summary.js";

const LARGEST = 65536; // characters of a record or a position

/** @type {State} */
const state = {
  hasTable: false,
  study: null,
  at: 0,
  decisions: new Map(),
  luck: null,
  challenge: null,
  playing: null,
  games: [],
  finding: null,
  say: "",
  go,
  jump,
  play: (move) => ask({ do: "move", at: state.at, move }),
  dare: () => ask({ do: "challenge" }),
  take: (record) => ask({ do: "open", record }),
  openGame: (game) => ask({ do: "open", game }),
  back: () => ask({ do: "return" }),
  find,
  attempt,
  read: (file) => void read(file),
};
let isDrawn = true;

// ---------------------------------------------------------------------- the connection

const ask = connect("study", hear, lose, drawEnd);

function lose() {
  if (!state.study) return;
  state.say = t("lost");
  draw();
}

/** @param {any} message */
function hear(message) {
  const { type, ...told } = message;
  if (type === "hello") {
    setTexts(told.texts);
    document.documentElement.lang = told.language;
    state.hasTable = told.table;
    begin();
  } else if (type === "study") {
    const isSame = told.record === state.study?.record && !told.line;
    const at = isSame ? (state.study?.left ?? state.at) : told.at;
    if (told.line && state.study?.line) readAloud(told.steps[at]?.told ?? "");
    Object.assign(state, {
      study: told,
      at,
      decisions: new Map(),
      luck: null,
      challenge: null,
      playing: null,
      finding: null,
      say: "",
    });
  } else if (type === "decision") state.decisions.set(told.at, told);
  else if (type === "luck") state.luck = told;
  else if (type === "games") state.games = told.games;
  else if (type === "playing") state.playing = told;
  else if (type === "challenge") Object.assign(state, { challenge: told, playing: null });
  else {
    state.say = told.say;
    readAloud(told.say);
  }
  draw();
}

/** Ask for what is to be shown at first, or what was shown before the connection was lost. */
function begin() {
  const { study } = state;
  if (study) ask({ do: "open", record: study.record, ...(study.moves && { moves: study.moves }) });
  else ask({ do: "open" });
}

/** Draw the page soon, once for all that has come until then. */
function draw() {
  if (!isDrawn) return;
  isDrawn = false;
  requestAnimationFrame(() =>
    whenReleased(() => {
      isDrawn = true;
      drawStudy(state);
    }),
  );
}

// ---------------------------------------------------------------------- steps

/** @param {number} at */
function go(at) {
  const { study } = state;
  if (!study) return;
  state.at = Math.max(0, Math.min(study.steps.length - 1, at));
  if (!state.decisions.has(state.at)) ask({ do: "look", at: state.at });
  readAloud(study.steps[state.at]?.told ?? "");
  draw();
}

/** @param {number} step */
function jump(step) {
  const ahead = mistakes(state).filter((at) => (at - state.at) * step > 0);
  if (ahead.length) go(step > 0 ? Math.min(...ahead) : Math.max(...ahead));
}

/** Look for better moves than the person's mistakes, whose values are hidden; or no more. */
function find() {
  state.finding = state.finding ? null : new Map();
  const first = mistakes(state)[0];
  if (state.finding && first !== undefined) go(first);
  draw();
}

/** Try a move in place of a mistake, or show the values with "". @param {string} move */
function attempt(move) {
  const tried = state.finding?.get(state.at) ?? [];
  state.finding?.set(state.at, [...tried, move]);
  readAloud(verdictOfTry(state));
  draw();
}

document.addEventListener("keydown", (event) => {
  if (!state.study || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof HTMLInputElement && event.target.type === "range" && event.key.length > 1) return;
  const last = state.study.steps.length - 1;
  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowLeft: () => go(state.at - 1),
    ArrowRight: () => go(state.at + 1),
    Home: () => go(0),
    End: () => go(last),
    n: () => jump(1),
    p: () => jump(-1),
  };
  const what = keys[event.key];
  if (!what) return;
  event.preventDefault();
  what();
});

// ---------------------------------------------------------------------- files

/** @param {File} file */
async function read(file) {
  const text = file.size <= 4 * LARGEST ? await file.text() : "";
  if (text.length > LARGEST || file.size > 4 * LARGEST) {
    const say = t("study_too_large", { most: LARGEST });
    state.say = say;
    readAloud(say);
    draw();
  } else state.take(text);
}

document.addEventListener("paste", (event) => {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (!text.trim() || text.length > LARGEST) return;
  event.preventDefault();
  state.take(text);
});
