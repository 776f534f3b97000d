// The shapes of messages and of what the page keeps, for the type checker; the page loads nothing of it.

/** "8S", as records write it. */
type Card = string;

interface Player {
  seat: number;
  name: string;
  team: number | null;
  dealer: boolean;
  cards: number; // in the hand
  pile: number; // how many cards it has taken
  swept: Card[]; // cards of the pile that made sweeps, face up
  taken: Card[] | null; // the pile, once the game is over
  account: string; // what the score is made of
  score: number;
  total: number; // of the session
}

interface Build {
  value: number;
  cards: Card[];
  owner: number;
  multiple: boolean;
}

interface Move {
  move: string; // as records write it
  kind: "take" | "build" | "leave";
  card: Card;
  takes: Card[];
  builds: number[]; // values of builds that are taken, raised or joined
  build: number | null; // the value of what is built
  sweep: number; // 0, 1 or 2
  what: string; // what it captures, in words
  gain: number; // what it is worth to its seat at once: plus is good
  text: string;
}

interface Line {
  deal: number;
  seat: number | null;
  text: string;
}

interface Last {
  seat: number;
  card: Card;
  takes: Card[];
  builds: { value: number; cards: Card[] }[];
  build: number | null;
  sweep: number;
  gains: number[]; // what it was worth to each seat: plus is good
  sums: string; // what adds up to the card
  event: string; // that it is a sweep, and who pays whom
  text: string;
}

interface Sheet {
  names: string[];
  entries: { label: string; points: number[] }[];
  scores: number[];
  sides: number[];
  totals: number[];
}

/** What one seat may see of a game. */
interface View {
  title: string;
  seat: number | null; // null for who only watches
  players: Player[];
  teams: { name: string; seats: number[]; score: number }[];
  table: Card[];
  builds: Build[];
  aside: Card[];
  stock: number;
  deal: { number: number; of: number };
  session: { number: number; of: number }; // of: 0 for as many games as it takes
  turn: number | null; // null when the game is over
  hand: Card[];
  moves: Move[] | null; // null where there are too many to list
  whys: Record<Card, string>; // what the cards of the hand may do, or why they can't be played
  announcement: string;
  log: Line[];
  last: Last | null;
  over: boolean;
  session_over: boolean;
  sheet: Sheet | null;
  result: string;
}

/** A move that is advised; its figures are null where the agent values no moves, or is sure. */
interface Advised {
  move: string;
  text: string;
  margin: number | null; // how far its side would be ahead
  half: number | null; // of the margin's interval
  sweeps: number | null; // how likely the next seat sweeps
}

/** What an agent advises, best first. */
interface Hint {
  by: string;
  said: string; // what is best, and what it is good for
  head: string;
  columns: [string, string]; // what the numbers are called
  legend: string;
  remark: string;
  rows: Advised[];
}

/** What the server tells: the table as one seat sees it, and now and then something more. */
interface Told {
  type: "table";
  edit: number; // how often the game has changed, which every request names
  game: number; // which game of this table
  moves: number; // how many moves of it have been made
  view: View;
  of: string; // the rules, as text
  goal: string; // what the game is about
  people: number[]; // the seats of people
  here: number[]; // those whose page is open
  stand_ins: number[]; // those for which an agent plays
  enders: number[]; // those who would end the game here
  adviser: string; // what this agent is called, which gives hints too
  host: boolean; // whether this page chooses the game
  links: [string, string][]; // who may be let in, with the link
  hints: boolean; // whether they may be asked for
  leads: boolean; // whether this page decides what goes on at the table
  pace: Pace; // how fast agents play
  paused: boolean; // whether agents wait for each step
  thinking: number | null; // the seat of the agent to act
  ready: boolean; // whether the agents can play
  fault: string;
  compared: string; // how the game came off against an earlier one of the same cards; empty if there is none
  ended: string; // why the table has ended
  stuck: boolean; // whether an agent can't go on
  undo: boolean; // whether moves may be taken back
  texts?: Record<string, string>;
  language?: string;
  say?: string;
  hint?: Hint;
}

type Pace = "slow" | "normal" | "fast";

/** What a person has chosen so far: a card of the hand, and what goes with it. */
interface Chosen {
  card: Card | null;
  place: number | null; // of the card in the hand
  picked: Set<string>; // what goes with it, as in "table 3" or "build 9"
}

/** The table as the page has it. */
interface Table {
  told: Told; // the last message
  chosen: Chosen;
  say: string; // what the server or the page has to say to the person
  hint: Hint | null;
  isThinkingOfHint: boolean;
  isLost: boolean; // whether there is no connection
  acts: import("../../krypenv/ui/browser/static/table.js").Acts;
}

// ---------------------------------------------------------------------- a game that is studied

/** A move, as it was made. */
interface Made {
  card: string;
  takes: string[];
  builds: number[];
  text: string;
}

/** A position of the game. */
interface Step {
  deal: number;
  turn: number | null;
  hands: string[][]; // by seat
  table: string[];
  builds: Build[];
  aside: string[];
  stock: number;
  scores: number[]; // by seat
  margins: number[]; // by seat
  told: string; // what has led here
  note: string; // a comment of the record
  move: Made | null; // the move that was made here
}

/** A game that is over, or a line of play from a position. */
interface Study {
  title: string;
  of: string; // the rules, as text
  seat: number | null;
  names: string[]; // by seat
  within: string[]; // by seat, what seats are called within a sentence
  sides: number[]; // by seat
  deals: number;
  steps: Step[];
  result: string;
  by: string; // who values moves
  record: string; // of a line the position from which it begins
  line: boolean;
  over: boolean;
  moves?: string[]; // of a line
  left: number | null; // the move at which a line leaves the game; null if it is one of a position
  challenge: boolean; // whether there may be a challenge
}

interface Value {
  move: string;
  text: string;
  played: boolean;
  margin: number;
  half: number | null;
  behind: number;
  sweeps: number;
}

interface Decision {
  at: number;
  seat: number;
  margin: number;
  regret: number;
  mark: string;
  moves: Value[];
  more: boolean;
}

interface Luck {
  side: number;
  told: string;
}

interface Challenge {
  by: string;
  margins: number[];
  difference: { at: number; mine: string; theirs: string } | null; // the first move in which the games differ
}

/** A game of the table that is over. */
interface Played {
  number: number;
  told: string;
  compared: string;
}

/** What a page knows and shows. */
interface State {
  hasTable: boolean; // whether there is a table to go back to
  study: Study | null;
  at: number; // the position that is shown
  decisions: Map<number, Decision>; // by the number of moves made before each
  luck: Luck | null;
  challenge: Challenge | null;
  playing: { made: number; of: number } | null; // how far the challenge is
  games: Played[];
  finding: Map<number, string[]> | null; // moves that were tried in place of mistakes; null if none is looked for
  say: string;
  go: (at: number) => void;
  play: (move: string) => void; // a move of a line
  jump: (step: number) => void; // to the next mistake, or with -1 to the previous one
  dare: () => void; // begin the challenge
  take: (record: string) => void; // the text of a record or a position
  openGame: (game: number) => void; // of the table
  back: () => void; // to the game that a line has left
  find: () => void; // better moves, or no more
  attempt: (move: string) => void; // a move in place of a mistake; "" shows the values
  read: (file: File) => void;
}

// ---------------------------------------------------------------------- the start screen

/** A game that can be played. */
interface Game {
  name: string;
  title: string;
  line: string;
  small: boolean;
  sizes: [number, number][]; // players and teams, 0 for none
}

/** What is to be played. */
interface Choice {
  game: string;
  size: string; // players and teams, as in "4/2"
  players: string[]; // by seat: an agent, or PERSON
  names: string[]; // of people, by seat
  changes: string; // of the rules, as text
  seed: string;
  helper: string; // who gives hints; empty for nobody
}

/** What the server offers. */
interface Offer {
  games: Game[];
  levels: { agent: string; text: string }[];
  languages: [string, string][];
  saved: { file: string; text: string }[];
  key: string;
  now: Partial<Choice> | null; // what is played
  begun: boolean; // whether a game lies on the table
  say?: string;
}
