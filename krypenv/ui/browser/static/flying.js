// What happens is seen: cards fly to the table and to a pile, and captures, sweeps and new deals are told over the table.

import { face } from "./cards.js";
import { h } from "./dom.js";
import { tap } from "./sound.js";

/** @typedef {{ face: Element, box: DOMRect }} Lying a card that lay somewhere before a play */

const STEP = 380; // milliseconds of a flight
/** @type {Record<Pace, number>} */
const SLOWNESS = { slow: 1.6, normal: 1, fast: 0.4 };
const READ = 2400; // milliseconds in which a sentence is read
const isStill = matchMedia("(prefers-reduced-motion: reduce)");
const flights = h("div.flights", { "aria-hidden": "true" });
document.body.append(flights);

let until = 0; // when the last play has been shown

/** Wait until the last play has been shown. @returns {Promise<void>} */
export const shown = () => new Promise((done) => setTimeout(done, until - performance.now()));

/** Wait for nothing more: the person goes on. */
export function hurry() {
  until = 0;
}

/**
 * Return the cards as they lie, by what they are called; of two copies, both.
 * @returns {Map<string, Lying[]>}
 */
export function whereTheyLie() {
  /** @type {Map<string, Lying[]>} */
  const found = new Map();
  for (const each of document.querySelectorAll("#page [data-card]")) {
    const face = each.querySelector(".face");
    if (!face) continue;
    const name = each.getAttribute("data-card") ?? "";
    found.set(name, [...(found.get(name) ?? []), { face, box: face.getBoundingClientRect() }]);
  }
  return found;
}

/**
 * Show the last play and what follows it.
 * @param {Table} table
 * @param {View} before the view before that play
 * @param {Map<string, Lying[]>} lay where the cards lay then
 */
export function fly({ told }, before, lay) {
  const { view } = told;
  const { last } = view;
  const seat = last && document.querySelector(`[data-seat="${last.seat}"]`)?.getBoundingClientRect();
  if (!seat) return;
  const step = STEP * SLOWNESS[told.pace];
  const played = lay.get(`hand ${last.card}`)?.[0]?.box ?? seat;
  const taken = [...last.takes.map((card) => `table ${card}`), ...last.builds.map(({ value }) => `build ${value}`)];
  const lying = taken.flatMap((name) => lay.get(name)?.pop() ?? []);
  const isTaken = lying.length > 0 && last.build === null;
  setTimeout(tap, isStill.matches ? 0 : step * 0.8);
  if (!isStill.matches) {
    if (isTaken) capture([...lying, { face: face(last.card), box: played }], seat, step);
    slide(lay, played, step);
  }
  tell(isTaken && !isStill.matches ? last.sums : "", "sums", step * 0.6, step * 3);
  tell(last.event, "sweep", step, READ);
  const after = last.event ? READ * 0.8 : step * (isTaken ? 4 : 1);
  if (!isStill.matches || last.event) until = performance.now() + after;
  if (view.over || view.deal.number === before.deal.number) return;
  for (const hand of document.querySelectorAll(".hand")) {
    if (hand instanceof HTMLElement) hand.style.setProperty("--after", `${after + step}ms`);
  }
  tell(view.log.filter((line) => line.seat === null).at(-1)?.text ?? "", "deal", after, READ);
}

/**
 * Have what lies on the table come from where it lay, and a card that was just laid from who has played it.
 * @param {Map<string, Lying[]>} lay
 * @param {DOMRect} from
 * @param {number} step
 */
function slide(lay, from, step) {
  for (const each of document.querySelectorAll(".table [data-card]")) {
    const now = each.querySelector(".face")?.getBoundingClientRect();
    const was = lay.get(each.getAttribute("data-card") ?? "")?.shift()?.box ?? from;
    const frames = now && [
      { transform: between(now, was), opacity: 1 },
      { transform: "none", opacity: 1 },
    ];
    if (frames) each.animate(frames, { duration: step, easing: "ease-out" });
  }
}

/**
 * Have the last card fly to the cards that it takes, and all of them to a pile.
 * @param {Lying[]} cards
 * @param {DOMRect} pile
 * @param {number} step
 */
function capture(cards, pile, step) {
  const spots = cards.slice(0, -1).map(({ box }) => box);
  const mean = (/** @type {number[]} */ places) => places.reduce((sum, each) => sum + each, 0) / places.length;
  const width = spots[0]?.width ?? 0;
  const height = width * 1.4;
  const meeting = new DOMRect(mean(spots.map(({ x }) => x)), mean(spots.map(({ y }) => y)) + height / 3, width, height);
  for (const [at, { face, box }] of cards.entries()) {
    const ghost = h("span.card.flying", face.cloneNode(true));
    Object.assign(ghost.style, { left: `${box.x}px`, top: `${box.y}px`, width: `${face.clientWidth || width}px` });
    flights.append(ghost);
    const met = at < cards.length - 1 ? "none" : between(box, meeting);
    const frames = [
      { transform: "none", offset: 0, easing: "ease-out" },
      { transform: met, offset: 0.25 },
      { transform: met, opacity: 1, offset: 0.7, easing: "ease-in" },
      { transform: `${between(box, pile)} scale(0.3)`, opacity: 0.2, offset: 1 },
    ];
    ghost.animate(frames, { duration: step * 4 }).finished.then(() => ghost.remove());
  }
}

/**
 * Return what moves a box onto the middle of another.
 * @param {DOMRect} box
 * @param {DOMRect} onto
 */
function between(box, onto) {
  return `translate(${onto.x - box.x + (onto.width - box.width) / 2}px, ${onto.y - box.y + (onto.height - box.height) / 2}px)`;
}

/**
 * Say something over the table for a while.
 * @param {string} text
 * @param {string} kind
 * @param {number} after milliseconds
 * @param {number} lasting milliseconds
 */
function tell(text, kind, after, lasting) {
  if (!text) return;
  const told = h("p", { class: `event ${kind}` }, text);
  setTimeout(() => {
    const box = document.querySelector(".middle, .sheet")?.getBoundingClientRect();
    if (box) Object.assign(told.style, { left: `${box.x + box.width / 2}px`, top: `${box.y + box.height / 2}px` });
    flights.append(told);
    setTimeout(() => told.remove(), lasting);
  }, after);
}
