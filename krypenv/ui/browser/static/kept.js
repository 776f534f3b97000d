// What this browser keeps from one visit to the next.

/**
 * Return what this browser has kept under a name.
 * @template Kept
 * @param {string} name
 * @param {Kept} instead what is returned where it has kept nothing
 * @returns {Kept}
 */
export function kept(name, instead) {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "null") ?? instead;
  } catch {
    return instead; // a browser that keeps nothing
  }
}

/**
 * Keep something in this browser, if it does.
 * @param {string} name
 * @param {unknown} value
 */
export function keep(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // then it is asked for again
  }
}
