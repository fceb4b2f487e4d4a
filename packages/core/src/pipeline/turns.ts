import { hasBackground } from '#platform';
import { setImmediate } from '../runtime.js';

/** Answers without waiting per tick of the event loop. A thousand cached denials take 0.2 ms. */
const MOST = 1_000;

let given = 0;
let begun = false;
let waiting: (() => void)[] = [];
/** Without a background there are no turns: requests share nothing. Never equal to itself, so nothing is of the same turn. */
let turn = hasBackground ? 0 : Number.NaN;
let nextBegins: Promise<void> | undefined;

/** A number that changes after each turn in which `mayAnswerNow` was called. */
export const currentTurn = (): number => turn;

/** Resolves in the next turn. Only after `mayAnswerNow` has returned false. */
export function nextTurn(): Promise<void> {
  nextBegins ??= new Promise((resolve) => {
    waiting.push(resolve);
  });
  return nextBegins;
}

/**
 * Runs `answer` at once, or in the next tick of the event loop if this turn already had many. Otherwise a caller that
 * calls again without a pause would keep timers and sockets from running, because no network delay lies between its calls.
 */
export function answerInTurn(answer: () => void): void {
  if (mayAnswerNow()) answer();
  else waiting.push(answer);
}

/** Counts an answer. Returns whether this turn has room for it. */
export function mayAnswerNow(): boolean {
  if (!hasBackground) return true;
  if (!begun) {
    begun = true;
    setImmediate(next);
  }
  given += 1;
  return given <= MOST;
}

function next(): void {
  const answers = waiting;
  given = 0;
  begun = false;
  waiting = [];
  turn += 1;
  nextBegins = undefined;
  for (const answer of answers) answer();
}
