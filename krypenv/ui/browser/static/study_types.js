// What the server tells a page that studies a game.

/** @typedef {{ card: string, takes: string[], builds: number[], text: string }} Made a move, as it was made */
/** @typedef {{ value: number, cards: string[], owner: number, multiple: boolean }} Build */
/**
 * @typedef {object} Step a position of the game
 * @property {number} deal
 * @property {number | null} turn
 * @property {string[][]} hands by seat
 * @property {string[]} table
 * @property {Build[]} builds
 * @property {string[]} aside
 * @property {number} stock
 * @property {number[]} scores by seat
 * @property {number[]} margins by seat
 * @property {string} told what has led here
 * @property {string} note a comment of the record
 * @property {Made | null} move the move that was made here
 */
/**
 * @typedef {object} Study a game that is over, or a line of play from a position that somebody has set up
 * @property {string} title
 * @property {number | null} seat
 * @property {string[]} names by seat
 * @property {string[]} within by seat, what seats are called within a sentence
 * @property {number[]} sides by seat
 * @property {number} deals
 * @property {Step[]} steps
 * @property {string} result
 * @property {string} by who values moves
 * @property {string} record of a line the position from which it begins
 * @property {boolean} line
 * @property {boolean} over
 * @property {{ move: string, text: string }[] | null} legal moves at the end of a line; null where they are too many
 * @property {string[]} [moves] of a line
 * @property {boolean} challenge whether there may be a challenge
 */
/** @typedef {{ move: string, text: string, played: boolean, margin: number, half: number | null, behind: number, sets_up: number, risks: number }} Value */
/** @typedef {{ at: number, seat: number, margin: number, regret: number, mark: string, moves: Value[], more: boolean }} Decision */
/** @typedef {{ side: number, told: string, deals: { deal: number, margins: number[], luck: number[] }[] }} Luck */
/** @typedef {{ at: number, table: string[], hand: string[], text: string }} Choice */
/** @typedef {{ same: boolean, mine: Choice, theirs: Choice }} Difference */
/** @typedef {{ by: string, margins: number[], deals: { deal: number, margins: number[], difference: Difference | null }[] }} Challenge */
/** @typedef {{ key: string, kind: string, seat: number | null, value: number | null, owner: number | null, cards: string[], rest: boolean }} Place where cards may lie */
/**
 * @typedef {object} Board what can be read of a position that is set up
 * @property {string} rules
 * @property {string} preset
 * @property {string[]} presets
 * @property {number} players
 * @property {number[]} counts of players that the preset is for
 * @property {string[]} names of the seats
 * @property {{ card: string, left: number }[]} deck
 * @property {number} left how many cards are named nowhere
 * @property {string} rest the place of all cards that are named nowhere else; empty if none
 * @property {Place[]} places
 * @property {number[]} builds values that builds may have
 * @property {number} dealer
 * @property {number | null} last who made the last capture
 * @property {number | null} deal
 * @property {number} deals
 * @property {number[]} sweeps by seat
 */
/** @typedef {{ number: number, text: string, error: string, undo: boolean, board: Board | null }} Draft a position that is set up */
/** @typedef {{ number: number, error: string, fault: string, told: string, turn: number | null, last: number | null, dealer: number | null }} Checked whether it can be studied */
/**
 * @typedef {object} Editing what the editor knows and shows
 * @property {Draft | null} draft
 * @property {Checked | null} checked of the draft, once it is known
 * @property {string} into where cards go
 * @property {string} say
 * @property {(request: Record<string, unknown>) => void} ask
 * @property {(place: string) => void} choose where cards go
 * @property {() => void} study
 * @property {(() => void) | null} leave go back to what was studied before
 * @property {(file: File) => void} read
 */
/**
 * @typedef {object} State what a page knows and shows
 * @property {boolean} hasTable whether there is a table to go back to
 * @property {Study | null} study
 * @property {number} at the position that is shown
 * @property {Map<number, Decision>} decisions by the number of moves made before each
 * @property {Luck | null} luck
 * @property {Challenge | null} challenge
 * @property {{ made: number, of: number } | null} playing how far the challenge is
 * @property {string} say
 * @property {boolean} isEditing whether the editor is open
 * @property {(at: number) => void} go
 * @property {(move: string) => void} play a move of a line
 * @property {() => void} edit the position that is shown, or a new one
 * @property {(step: number) => void} jump to the next mistake, or with -1 to the previous one
 * @property {() => void} dare begin the challenge
 * @property {(file: File) => void} read
 */

export {};
