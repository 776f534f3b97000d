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
 * @typedef {object} Study a game that is over, or a line of play from a position
 * @property {string} title
 * @property {string} of the rules, as text
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
 * @property {string[]} [moves] of a line
 * @property {number | null} left the move at which a line leaves the game; null if it is one of a position
 * @property {boolean} challenge whether there may be a challenge
 */
/** @typedef {{ move: string, text: string, played: boolean, margin: number, half: number | null, behind: number, sets_up: number, risks: number }} Value */
/** @typedef {{ at: number, seat: number, margin: number, regret: number, mark: string, moves: Value[], more: boolean }} Decision */
/** @typedef {{ side: number, told: string }} Luck */
/** @typedef {{ by: string, margins: number[], difference: { at: number, mine: string, theirs: string } | null }} Challenge */
/** @typedef {{ number: number, told: string, compared: string }} Played a game of the table that is over */
/**
 * @typedef {object} State what a page knows and shows
 * @property {boolean} hasTable whether there is a table to go back to
 * @property {Study | null} study
 * @property {number} at the position that is shown
 * @property {Map<number, Decision>} decisions by the number of moves made before each
 * @property {Luck | null} luck
 * @property {Challenge | null} challenge
 * @property {{ made: number, of: number } | null} playing how far the challenge is
 * @property {Played[]} games
 * @property {Map<number, string[]> | null} finding moves that were tried in place of mistakes; null if none is looked for
 * @property {string} say
 * @property {(at: number) => void} go
 * @property {(move: string) => void} play a move of a line
 * @property {(step: number) => void} jump to the next mistake, or with -1 to the previous one
 * @property {() => void} dare begin the challenge
 * @property {(record: string) => void} take the text of a record or a position
 * @property {(game: number) => void} openGame of the table
 * @property {() => void} back to the game that a line has left
 * @property {() => void} find better moves, or no more
 * @property {(move: string) => void} attempt a move in place of a mistake; "" shows the values
 * @property {(file: File) => void} read
 */

export {};
