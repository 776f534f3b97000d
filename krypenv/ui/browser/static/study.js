// The page on which a game is studied: its connection to the server, keys and files.

import { setTexts, t } from "./dom.js";
import { drawStudy, drawStudyEnd, readAloud } from "./study_drawing.js";

/** @typedef {import("./study_types.js").State} State */

const RETRY = 1000; // milliseconds between attempts to connect
const LARGEST = 65536; // characters of a record
const DROPPED = "krypenv dropped record"; // what another page hands over
const MISTAKES = ["?", "??"];

/** @type {State} */
const state = {
  hasTable: false,
  study: null,
  at: 0,
  decisions: new Map(),
  luck: null,
  challenge: null,
  playing: null,
  say: "",
  go,
  jump,
  dare: () => ask({ do: "challenge" }),
  read: (file) => void read(file),
};
/** @type {WebSocket} */
let socket;
let isDrawn = true;
let isPressed = false; // the mouse, or a finger

// ---------------------------------------------------------------------- the connection

function connect() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  socket = new WebSocket(`${scheme}//${location.host}/study`);
  let isRefused = false;
  socket.addEventListener("open", () => ask({ do: "sit", key: location.hash.slice(1) }));
  socket.addEventListener("message", (event) => {
    const message = JSON.parse(event.data);
    if (message.type === "closed") {
      isRefused = true;
      drawStudyEnd(message.say);
    } else hear(message);
  });
  socket.addEventListener("close", () => {
    if (isRefused) return;
    if (state.study) {
      state.say = t("lost");
      draw();
    }
    setTimeout(connect, RETRY);
  });
}

/** @param {Record<string, unknown>} request */
function ask(request) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(request));
}

/** @param {any} message */
function hear(message) {
  const { type, ...told } = message;
  if (type === "hello") {
    setTexts(told.texts);
    document.documentElement.lang = told.language;
    state.hasTable = told.table;
    const record = handedOver() ?? state.study?.record ?? null;
    ask(record === null ? { do: "open" } : { do: "open", record });
  } else if (type === "study") {
    const at = told.record === state.study?.record ? state.at : 0;
    Object.assign(state, {
      study: told,
      at,
      decisions: new Map(),
      luck: null,
      challenge: null,
      playing: null,
      say: "",
    });
  } else if (type === "decision") state.decisions.set(told.at, told);
  else if (type === "luck") state.luck = told;
  else if (type === "playing") state.playing = told;
  else if (type === "challenge") Object.assign(state, { challenge: told, playing: null });
  else {
    state.say = told.say;
    readAloud(told.say);
  }
  draw();
}

/** Draw the page soon, once for all that has come until then. */
function draw() {
  if (!isDrawn || isPressed) return;
  isDrawn = false;
  requestAnimationFrame(() => {
    isDrawn = true;
    if (!isPressed) drawStudy(state);
  });
}

// A button that was replaced while it is pressed would hear of no click: what comes meanwhile is drawn afterwards.
document.addEventListener("pointerdown", () => {
  isPressed = true;
});
for (const name of ["pointerup", "pointercancel"])
  document.addEventListener(name, () =>
    setTimeout(() => {
      isPressed = false;
      draw();
    }),
  );

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
  const places = [...state.decisions.values()].filter((each) => MISTAKES.includes(each.mark)).map((each) => each.at);
  const ahead = places.filter((at) => (at - state.at) * step > 0);
  if (ahead.length) go(step > 0 ? Math.min(...ahead) : Math.max(...ahead));
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

/** Return the record that another page has handed over, null if none. */
function handedOver() {
  try {
    const record = sessionStorage.getItem(DROPPED);
    sessionStorage.removeItem(DROPPED);
    return record;
  } catch {
    return null; // a browser that keeps nothing
  }
}

/** @param {File} file */
async function read(file) {
  const text = file.size <= 4 * LARGEST ? await file.text() : "";
  if (text.length > LARGEST || file.size > 4 * LARGEST) {
    state.say = t("study_too_large", { most: LARGEST });
    readAloud(state.say);
    draw();
  } else ask({ do: "open", record: text });
}

document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  const file = event.dataTransfer?.files[0];
  if (file) void read(file);
});

connect();
