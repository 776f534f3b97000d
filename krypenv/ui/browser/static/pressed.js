// A button that was replaced while it is pressed would hear of no click: what comes meanwhile waits for its release.

let isPressed = false; // the mouse, or a finger
/** @type {(() => void)[]} */
const waiting = [];

/** Do something now, or after the click while something is pressed. @param {() => void} act */
export function whenReleased(act) {
  if (isPressed) waiting.push(act);
  else act();
}

document.addEventListener("pointerdown", ({ button, target }) => {
  isPressed = button === 0 && !(target instanceof HTMLSelectElement); // a menu that opens hides the release
});
for (const name of ["pointerup", "pointercancel"])
  document.addEventListener(name, () =>
    setTimeout(() => {
      isPressed = false;
      for (const act of waiting.splice(0)) act();
    }),
  );
