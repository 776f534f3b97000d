// Dragging a card from one place to another. Clicks and keys do the same.

/** @import { Target } from "./shapes.js" */

const STEPS = 8; // pixels from which on a press is no click

/**
 * Follow a pointer that was pressed on a card.
 * @param {PointerEvent} pressed
 * @param {() => boolean} lift says whether it may be dragged
 * @param {(x: number, y: number) => void} drop is told where it was laid
 * @param {string} kind the class of what follows the pointer
 */
export function dragging(pressed, lift, drop, kind = "card") {
  const card = pressed.currentTarget;
  if (pressed.button !== 0 || !pressed.isPrimary || !(card instanceof HTMLElement)) return;
  const { left, top, width } = card.getBoundingClientRect();
  const ending = new AbortController();
  /** @type {HTMLElement | null} */
  let ghost = null;

  /** @param {PointerEvent} event */
  function follow(event) {
    const [right, down] = [event.clientX - pressed.clientX, event.clientY - pressed.clientY];
    if (!ghost && Math.hypot(right, down) < STEPS) return;
    if (!ghost) {
      if (!lift()) return stop();
      ghost = ghostOf(/** @type {HTMLElement} */ (card), width, kind);
    }
    ghost.style.transform = `translate(${left + right}px, ${top + down}px)`;
  }

  /** @param {PointerEvent} event */
  function lay(event) {
    const isDragged = ghost !== null;
    stop();
    if (!isDragged) return;
    addEventListener("click", (click) => click.stopPropagation(), { capture: true, once: true, signal: soon() });
    drop(event.clientX, event.clientY);
  }

  function stop() {
    ending.abort();
    ghost?.remove();
    ghost = null;
  }

  const { signal } = ending;
  addEventListener("pointermove", follow, { signal });
  addEventListener("pointerup", lay, { signal });
  addEventListener("pointercancel", stop, { signal });
}

/** Return a signal of the moment after this one, when the click that ends dragging has passed. */
function soon() {
  const passing = new AbortController();
  setTimeout(() => passing.abort());
  return passing.signal;
}

/**
 * @param {HTMLElement} card
 * @param {number} width
 * @param {string} kind
 */
function ghostOf(card, width, kind) {
  const ghost = /** @type {HTMLElement} */ (card.cloneNode(true));
  ghost.className = `${kind} ghost`;
  ghost.removeAttribute("data-focus");
  ghost.setAttribute("aria-hidden", "true");
  ghost.style.width = `${width}px`;
  document.body.append(ghost);
  return ghost;
}

/**
 * Return what lies on the table at a point.
 * @param {number} x
 * @param {number} y
 * @returns {Target}
 */
export function targetAt(x, y) {
  for (const element of document.elementsFromPoint(x, y)) {
    const [kind, which] = (element.closest("[data-focus]")?.getAttribute("data-focus") ?? "").split(" ");
    if (kind === "table") return { kind: "card", which: Number(which) };
    if (kind === "build") return { kind: "build", which: Number(which) };
    if (element.closest(".middle")) return { kind: "table" };
  }
  return { kind: "nothing" };
}
