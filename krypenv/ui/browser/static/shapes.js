// The shapes of messages and of what the page keeps, for the type checker; nothing loads this file.

/** @typedef {string} Card "8S", as records write it */

/**
 * @typedef {object} Player
 * @property {number} seat
 * @property {string} name
 * @property {number | null} team
 * @property {boolean} dealer
 * @property {number} cards in the hand
 * @property {number} pile how many cards it has taken
 * @property {Card[]} swept cards of the pile that made sweeps, face up
 * @property {Card[] | null} taken the pile, once the game is over
 * @property {string} account what the score is made of
 * @property {number} score
 * @property {number} total of the session
 */

/** @typedef {{ value: number, cards: Card[], owner: number, multiple: boolean }} Build */

/**
 * @typedef {object} Move
 * @property {string} move as records write it
 * @property {"take" | "build" | "leave"} kind
 * @property {Card} card
 * @property {Card[]} takes
 * @property {number[]} builds values of builds that are taken, raised or joined
 * @property {number | null} build the value of what is built
 * @property {number} sweep 0, 1 or 2
 * @property {string} what what it captures, in words
 * @property {number} gain what it is worth to its seat at once: plus is good
 * @property {string} text
 */

/** @typedef {{ deal: number, seat: number | null, text: string }} Line */

/**
 * @typedef {object} Last
 * @property {number} seat
 * @property {Card} card
 * @property {Card[]} takes
 * @property {{ value: number, cards: Card[] }[]} builds
 * @property {number | null} build
 * @property {number} sweep
 * @property {number[]} gains what it was worth to each seat: plus is good
 * @property {string} sums what adds up to the card
 * @property {string} event that it is a sweep, and who pays whom
 * @property {string} text
 */

/**
 * @typedef {object} Sheet
 * @property {string[]} names
 * @property {{ label: string, points: number[] }[]} entries
 * @property {number[]} scores
 * @property {number[]} sides
 * @property {number[]} totals
 */

/**
 * What one seat may see of a game.
 * @typedef {object} View
 * @property {string} title
 * @property {number | null} seat null for who only watches
 * @property {Player[]} players
 * @property {{ name: string, seats: number[], score: number }[]} teams
 * @property {Card[]} table
 * @property {Build[]} builds
 * @property {Card[]} aside
 * @property {number} stock
 * @property {{ number: number, of: number }} deal
 * @property {{ number: number, of: number }} session of: 0 for as many games as it takes
 * @property {number | null} turn null when the game is over
 * @property {Card[]} hand
 * @property {Move[] | null} moves null where there are too many to list
 * @property {Record<Card, string>} whys what the cards of the hand may do, or why they can't be played
 * @property {string} announcement
 * @property {Line[]} log
 * @property {Last | null} last
 * @property {boolean} over
 * @property {boolean} session_over
 * @property {Sheet | null} sheet
 * @property {string} result
 */

/**
 * A move that is advised, with its margin, half of the interval and the chance that the next seat sweeps; null where the
 * agent does not value moves, or is sure.
 * @typedef {{ move: string, text: string, margin: number | null, half: number | null, sweeps: number | null }} Advised
 */

/**
 * What an agent advises, best first.
 * @typedef {object} Hint
 * @property {string} by
 * @property {string} said what is best, and what it is good for
 * @property {string} head
 * @property {[string, string]} columns what the numbers are called
 * @property {string} legend
 * @property {string} remark
 * @property {Advised[]} rows
 */

/**
 * What the server tells: the table as one seat sees it, and now and then something more.
 * @typedef {object} Told
 * @property {"table"} type
 * @property {number} edit how often the game has changed, which every request names
 * @property {number} game which game of this table
 * @property {number} moves how many moves of it have been made
 * @property {View} view
 * @property {string} of the rules, as text
 * @property {string} goal what the game is about
 * @property {number[]} people the seats of people
 * @property {number[]} here those whose page is open
 * @property {number[]} stand_ins those for which an agent plays
 * @property {number[]} enders those who would end the game here
 * @property {string} adviser what this agent is called, which gives hints too
 * @property {boolean} host whether this page chooses the game
 * @property {[string, string][]} links who may be let in, with the link
 * @property {boolean} hints whether they may be asked for
 * @property {boolean} leads whether this page decides what goes on at the table
 * @property {Pace} pace how fast agents play
 * @property {boolean} paused whether agents wait for each step
 * @property {number | null} thinking the seat of the agent to act
 * @property {boolean} ready whether the agents can play
 * @property {string} fault
 * @property {string} compared how the game came off against an earlier one of the same cards; empty if there is none
 * @property {string} ended why the table has ended
 * @property {boolean} stuck whether an agent can't go on
 * @property {boolean} undo whether moves may be taken back
 * @property {Record<string, string>} [texts]
 * @property {string} [language]
 * @property {string} [say]
 * @property {Hint} [hint]
 */

/** @typedef {"slow" | "normal" | "fast"} Pace */

/**
 * What a person has chosen so far: a card of the hand, and what goes with it.
 * @typedef {object} Chosen
 * @property {Card | null} card
 * @property {number | null} place of the card in the hand
 * @property {Set<string>} picked what goes with it, as in "table 3" or "build 9"
 */

/**
 * The table as the page has it.
 * @typedef {object} Table
 * @property {Told} told the last message
 * @property {Chosen} chosen
 * @property {string} say what the server or the page has to say to the person
 * @property {Hint | null} hint
 * @property {boolean} isThinkingOfHint
 * @property {boolean} isLost whether there is no connection
 * @property {import("./table.js").Acts} acts
 */

// ---------------------------------------------------------------------- a game that is studied

/** @typedef {{ card: string, takes: string[], builds: number[], text: string }} Made a move, as it was made */
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
/** @typedef {{ move: string, text: string, played: boolean, margin: number, half: number | null, behind: number, sweeps: number }} Value */
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
