/** Node's own: under a fake one nobody would ever be answered. */
const { setImmediate } = globalThis;

/** Answers without any waiting in one turn of the event loop. */
const MOST = 200;

let given = 0;
let begun = false;
let waiting: (() => void)[] = [];

/**
 * Runs `answer` at once, or in the next turn of the event loop when many have been given in this one. A caller that asks again without a
 * pause would otherwise keep timers and sockets from running for as long as no network is in between.
 */
export function answerInTurn(answer: () => void): void {
  if (!begun) {
    begun = true;
    setImmediate(next);
  }
  given += 1;
  if (given <= MOST) answer();
  else waiting.push(answer);
}

function next(): void {
  const answers = waiting;
  given = 0;
  begun = false;
  waiting = [];
  for (const answer of answers) answer();
}
