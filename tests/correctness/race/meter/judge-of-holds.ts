import type { Entry, Sent } from './recording.js';

/** A budget of the race. `whole`: its window does not end during the race. */
export interface Rule {
  readonly limit: number;
  readonly kind: 'whole' | 'sliding' | 'running';
  /** Of a sliding window, µs. */
  readonly window?: number;
}

/** One hold, as its callers know it. */
interface Life {
  readonly isKept: boolean;
  readonly budgets: readonly string[];
  /** Its whole amounts, which count at the latest from `now` on. */
  readonly grown: { readonly sent: number; readonly now: number; readonly amounts: readonly number[] }[];
  /** Amounts that may count, too: their call has no answer. */
  readonly unsure: (readonly number[])[];
  /** The first call without an answer since the last answer: it may have had the effect of the next one. */
  unsureSince?: number | undefined;
  /** `now` and `recorded` of a settle that was answered. */
  settle?: { sent: number; used: readonly number[]; now?: number; recorded?: readonly number[] };
}

/** What the callers of a race know: the lines of each process. */
export class HoldLog {
  readonly #lives = new Map<string, Life>();
  /** Calls without an answer. */
  lost = 0;

  constructor(
    processes: readonly (readonly Entry[])[],
    /** Time to live of the holds, µs. */
    readonly ttl: number,
  ) {
    for (const lines of processes) this.#read(lines);
  }

  #read(lines: readonly Entry[]): void {
    const answers = new Map(lines.flatMap((line) => ('now' in line ? [[line.n, line] as const] : [])));
    for (const line of lines) {
      if (!('sent' in line)) continue;
      const answer = answers.get(line.n);
      if (answer === undefined) this.lost += 1;
      if (answer?.allowed === false) continue;
      const life = this.#lifeOf(line);
      const { sent, amounts } = line;
      if (line.operation === 'hold') {
        if (answer === undefined) {
          life.unsure.push(amounts);
          life.unsureSince ??= sent;
          continue;
        }
        life.grown.push({ sent: life.unsureSince ?? sent, now: answer.now, amounts: answer.amounts });
        life.unsureSince = undefined;
        continue;
      }
      // A repeated settle has the first result. Which of them was first is not known without an answer.
      const before = life.settle ?? { sent, used: amounts };
      life.settle = { ...before, used: before.used.map((used, i) => Math.min(used, amounts[i]!)) };
      if (answer !== undefined && before.now === undefined)
        Object.assign(life.settle, { now: answer.now, recorded: answer.amounts });
    }
  }

  #lifeOf({ hold, kind, budgets }: Sent): Life {
    let life = this.#lives.get(hold);
    if (life === undefined) {
      life = { isKept: kind === 1, budgets, grown: [], unsure: [] };
      this.#lives.set(hold, life);
    }
    return life;
  }

  get lives(): readonly Life[] {
    return [...this.#lives.values()];
  }

  /** The budgets of an axis. */
  budgetsOf(axis: string): string[] {
    return [...new Set(this.lives.flatMap(({ budgets }) => budgets))].filter((name) =>
      name.startsWith(`${axis} `),
    );
  }

  /** The most that certainly counts at a moment at which a hold begins or grows: settled and live amounts, within the estimate. */
  mostOf(budget: string, rule: Rule): { readonly sum: number; readonly moment: number } {
    const lives = this.lives
      .map((life) => ({ life, i: life.budgets.indexOf(budget) }))
      .filter(({ life, i }) => i >= 0 && life.grown.length > 0);
    const moments = lives.flatMap(({ life }) => life.grown.map(({ now }) => now)).sort((a, b) => a - b);
    let most = { sum: 0, moment: 0 };
    let active = lives;
    for (const moment of moments) {
      active = active.filter(({ life }) => this.#mayCount(life, rule, moment));
      const sum = active.reduce((all, { life, i }) => all + this.#countedOf(life, i, rule, moment), 0);
      if (sum > most.sum) most = { sum, moment };
    }
    return most;
  }

  #mayCount({ grown, settle }: Life, { kind, window = 0 }: Rule, moment: number): boolean {
    if (kind === 'whole') return true;
    const last = Math.max(grown.at(-1)!.now + this.ttl, settle?.sent ?? 0);
    return moment < last + window;
  }

  #countedOf({ isKept, grown, settle }: Life, i: number, { kind, window = 0 }: Rule, moment: number): number {
    const steps = grown.filter(({ now }) => now <= moment);
    const last = steps.at(-1);
    if (last === undefined) return 0;
    const amount = last.amounts[i]!;
    const lapses = last.now + this.ttl;
    const isLive = moment < lapses;
    if (settle === undefined || moment < settle.sent) {
      if (kind === 'running' || !isKept) return isLive ? amount : 0;
      return kind === 'whole' ? amount : inWindow(steps, i, amount, moment - window);
    }
    if (kind === 'running') return 0;
    const used = Math.min(amount, (settle.recorded ?? settle.used)[i]!);
    if (isKept) return kind === 'whole' ? used : inWindow(steps, i, used, moment - window);
    // A hold that was given back may be settled late: other calls may have its amounts.
    const isInTime = settle.now !== undefined && settle.now < lapses;
    if (!isInTime && !isLive) return 0;
    return kind === 'whole' || moment < settle.sent + window ? used : 0;
  }

  /** What a `whole` budget counts as used at the end: not less than `from`, not more than `to`. */
  usedOf(budget: string): { readonly from: number; readonly to: number } {
    let [from, to] = [0, 0];
    for (const { isKept, budgets, grown, unsure, settle } of this.lives) {
      const i = budgets.indexOf(budget);
      if (i < 0) continue;
      const known = grown.at(-1)?.amounts[i] ?? 0;
      const most = Math.max(known, ...unsure.map((amounts) => amounts[i]!));
      if (settle?.recorded !== undefined) {
        from += settle.recorded[i]!;
        to += settle.recorded[i]!;
      } else if (isKept) {
        from += settle === undefined ? known : Math.min(known, settle.used[i]!);
        to += most;
      } else if (settle !== undefined) {
        to += most;
      }
    }
    return { from, to };
  }
}

/** The part of `whole` that counts in a window after `edge`, if the first amounts were used. */
function inWindow(steps: Life['grown'], i: number, whole: number, edge: number): number {
  let before = 0;
  let counted = 0;
  for (const { sent, amounts } of steps) {
    const until = Math.min(amounts[i]!, whole);
    if (sent > edge) counted += Math.max(0, until - before);
    before = Math.max(before, until);
  }
  return counted;
}
