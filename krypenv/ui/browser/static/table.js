// The page: its connection to the server, what the person does, and drawing what the server tells.

import { setTexts, t } from "./dom.js";
import { draw, drawEnd, openDialog } from "./drawing.js";
import { fitting, settled, written } from "./choosing.js";

const RETRY = 1000; // milliseconds between attempts to connect

const table = {
  told: null, // the last message about the table
  rules: [],
  chosen: nothing(),
  say: "", // what the server or the page has to say to the person
  hint: null,
  isThinkingOfHint: false,
  isLost: false,
  do: act,
};
let socket = null;

function nothing() {
  return { card: null, place: null, picked: new Set(), builds: new Set() };
}

// ---------------------------------------------------------------------- the connection

function connect() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  socket = new WebSocket(`${scheme}//${location.host}/socket`);
  let isRefused = false;
  socket.addEventListener("open", () => socket.send(JSON.stringify({ do: "sit", key: location.hash.slice(1) })));
  socket.addEventListener("message", (event) => {
    const message = JSON.parse(event.data);
    if (message.type === "closed") {
      isRefused = true;
      drawEnd(message.say);
    } else hear(message);
  });
  socket.addEventListener("close", () => {
    if (isRefused) return;
    table.isLost = true;
    if (table.told) draw(table);
    setTimeout(connect, RETRY);
  });
}

function hear(message) {
  if (message.texts) {
    setTexts(message.texts);
    document.documentElement.lang = message.language;
    table.rules = message.rules;
  }
  if (message.ended) return drawEnd(message.ended);
  const before = table.told;
  if (!before || before.game !== message.game || before.moves !== message.moves) {
    table.chosen = nothing();
    table.hint = null;
    table.isThinkingOfHint = false;
    table.say = "";
  }
  if (message.say !== undefined) {
    table.say = message.say;
    table.isThinkingOfHint = false;
  }
  if (message.hint) {
    table.isThinkingOfHint = false;
    table.hint = message.hint;
    const move = (message.view.moves ?? []).find((each) => each.move === message.hint.move);
    if (move) table.chosen = { ...nothing(), card: move.card, place: message.view.hand.indexOf(move.card) };
  }
  table.isLost = false;
  table.told = message;
  draw(table, before);
  if (!before) welcome(message.view.title);
}

/** Show the rules to somebody who has not seen them. */
function welcome(title) {
  try {
    const seen = `krypenv rules of ${title}`;
    if (localStorage.getItem(seen)) return;
    localStorage.setItem(seen, "yes");
  } catch {
    return; // a browser that keeps nothing
  }
  openDialog("rules", table);
}

function ask(request) {
  if (socket.readyState !== WebSocket.OPEN) return;
  socket.send(JSON.stringify({ game: table.told.game, moves: table.told.moves, ...request }));
}

// ---------------------------------------------------------------------- what the person does

/** Do what a click or a key asks for. */
function act(what, value) {
  const { view } = table.told;
  table.say = "";
  if (what === "card") chooseCard(view, value);
  else if (what === "pick") pick(view, value, null);
  else if (what === "build") pick(view, null, value);
  else if (what === "clear") table.chosen = nothing();
  else if (what === "play") return ask({ do: "play", move: value });
  else if (what === "written") return ask({ do: "play", move: written(view, table.chosen) });
  else if (what === "rules") return openDialog("rules", table);
  else if (what === "new" || what === "again") {
    if (value || view.over || !view.log.some((line) => line.seat !== null)) return ask({ do: what });
    return openDialog("sure", table, what);
  } else {
    if (what === "hint") table.isThinkingOfHint = true;
    ask({ do: what });
  }
  draw(table, table.told);
}

function chooseCard(view, place) {
  const card = view.hand[place];
  if (table.chosen.card === card && table.chosen.place === place) {
    const move = settled(view, table.chosen, fitting(view, table.chosen));
    if (move) return ask({ do: "play", move: move.move });
    table.chosen = nothing();
    return;
  }
  const chosen = { ...nothing(), card, place };
  const moves = fitting(view, chosen);
  table.say = moves && !moves.length ? (view.whys[card] ?? "") : "";
  table.chosen = moves && !moves.length ? nothing() : chosen;
}

function pick(view, place, value) {
  const { chosen } = table;
  const [set, each] = place === null ? [chosen.builds, value] : [chosen.picked, place];
  if (set.delete(each)) return;
  set.add(each);
  const moves = fitting(view, chosen);
  if (!moves || moves.length) return;
  ask({ do: "play", move: written(view, chosen) }); // no move has these cards: the server says why
  set.delete(each);
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && table.told && table.chosen.card) act("clear");
});


connect();
