// Dragging a card from one place to another. Clicks and keys do the same.

const STEPS = 8; // pixels from which on a press is no click

/**
 * Follow a pointer that was pressed on a card.
 * @param {PointerEvent} pressed
 * @param {() => boolean} lift says whether it may be dragged
 * @param {(x: number, y: number) => void} drop is told where it was laid
 */
export function dragging(pressed, lift, drop) {
  const card = pressed.currentTarget;
  if (pressed.button !== 0 || !pressed.isPrimary || !(card instanceof HTMLElement)) return;
  const { left, top } = card.getBoundingClientRect();
  const ending = new AbortController();
  /** @type {HTMLElement | null} */
  let ghost = null;

  /** @param {PointerEvent} event */
  function follow(event) {
    const [right, down] = [event.clientX - pressed.clientX, event.clientY - pressed.clientY];
    if (!ghost && Math.hypot(right, down) < STEPS) return;
    if (!ghost) {
      if (!lift()) return stop();
      ghost = ghostOf(/** @type {HTMLElement} */ (card));
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

/** @param {HTMLElement} card */
function ghostOf(card) {
  const ghost = /** @type {HTMLElement} */ (card.cloneNode(true));
  ghost.className = "card ghost";
  ghost.removeAttribute("data-focus");
  ghost.setAttribute("aria-hidden", "true");
  document.body.append(ghost);
  return ghost;
}

/**
 * Return what of the table lies at a point, as in "table 3" or "build 9": the "table" itself, or nothing.
 * @param {number} x
 * @param {number} y
 */
export function targetAt(x, y) {
  for (const element of document.elementsFromPoint(x, y)) {
    const what = element.closest(".table [data-focus]")?.getAttribute("data-focus");
    if (what || element.closest(".middle")) return what ?? "table";
  }
  return "";
}
