import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('memory-child.mjs', import.meta.url));

/**
 * Measures contenders in memory, each in its own process, in turns as `measure` does.
 * @returns a list of { contender, total, own, one, denied, many }: bytes per key, and the string's part of them; ns of CPU per decision in
 *   each round, with one key, with one denied key, and with all keys
 */
export async function measureMemory(contenders, { keys, prefix, rounds, sliceMs, onRound = () => {} }) {
  const children = [];
  try {
    for (const contender of contenders) children.push(new Child(contender, [keys, prefix]));
    for (const child of children) await child.ready;
    const measured = children.map(({ contender }) => ({ contender, one: [], denied: [], many: [] }));
    for (const [i, child] of children.entries()) Object.assign(measured[i], await child.run('fill'));
    for (let round = 0; round <= rounds; round++) {
      for (const kind of ['one', 'denied', 'many']) {
        for (let i = 0; i < children.length; i++) {
          const at = (i + round) % children.length;
          const cpu = await children[at].run('slice', { kind, ms: sliceMs });
          if (round > 0) measured[at][kind].push(cpu);
        }
      }
      onRound(round);
    }
    return measured;
  } finally {
    await Promise.all(children.map((child) => child.end()));
  }
}

class Child {
  #process;
  #ended;

  constructor(contender, options) {
    this.contender = contender;
    this.#process = fork(CHILD, [contender.id, ...options.map(String)]);
    this.#ended = new Promise((resolve) => this.#process.once('close', resolve));
    this.ready = this.#answer();
    // The first failure is reported. It ends the other processes, so their failures add nothing.
    this.ready.catch(() => {});
  }

  run(task, options) {
    const answer = this.#answer();
    this.#process.send({ task, ...options });
    return answer;
  }

  /** The child's next message. Rejects if the child ends first; its stderr has the reason. */
  #answer() {
    return new Promise((resolve, reject) => {
      const ended = (code) => reject(new Error(`${this.contender.name}: its process ended (${code})`));
      this.#process.once('exit', ended);
      this.#process.once('message', (message) => {
        this.#process.off('exit', ended);
        resolve(message);
      });
    });
  }

  end() {
    this.#process.kill();
    return this.#ended;
  }
}
