import { performance } from 'node:perf_hooks';
import type { RateLimiter, Store } from '@sluice/core';
import type { LimiterDefinition } from '@sluice/core/internal';
import { type LeftOut, openLimiter, policyText, readDefinitions } from '@sluice/fleet';
import { Refusal } from './answers.js';
import type { LimiterInfo } from './messages.js';

/** How long definitions are cached, ms. */
const FRESH = 2_000;

interface Known extends LimiterInfo {
  readonly definition: LimiterDefinition;
}

/** The limiters that the processes of a store published. */
export class Limiters {
  #known: Promise<ReadonlyMap<string, Known>> | undefined;
  #readAt = 0;
  /** The texts that the latest read could not parse. */
  leftOut: readonly LeftOut[] = [];
  /** There are other processes, and none of them sends its denials. */
  isSilent = false;
  readonly #opened = new Map<string, { readonly definition: string; readonly limiter: RateLimiter }>();

  constructor(readonly store: Store) {}

  /** The limiters by name. @throws StoreUnavailableError, StoreConfigurationError */
  async list(): Promise<readonly LimiterInfo[]> {
    const known = [...(await this.#all()).values()];
    return known
      .map(({ definition: _, ...info }) => info)
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }

  /** @throws Refusal if no process published it */
  async definition(name: string): Promise<LimiterDefinition> {
    const all = await this.#all();
    const known = all.get(name) ?? [...all.values()].find(({ definition }) => isAtOnce(definition, name));
    if (known === undefined) throw new Refusal(404, `No process has made a limiter '${name}' known`);
    return known.definition;
  }

  /** A limiter that changes the keys. @throws Refusal */
  async opened(name: string): Promise<RateLimiter> {
    const definition = await this.definition(name);
    const text = JSON.stringify(definition);
    const before = this.#opened.get(name);
    if (before?.definition === text) return before.limiter;
    await before?.limiter.close();
    const limiter = openLimiter(this.store, definition);
    this.#opened.set(name, { definition: text, limiter });
    return limiter;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#opened.values()].map(({ limiter }) => limiter.close()));
    this.#opened.clear();
  }

  #all(): Promise<ReadonlyMap<string, Known>> {
    if (this.#known === undefined || performance.now() - this.#readAt > FRESH) {
      this.#readAt = performance.now();
      this.#known = this.#read();
      this.#known.catch(() => {
        this.#known = undefined;
      });
    }
    return this.#known;
  }

  async #read(): Promise<ReadonlyMap<string, Known>> {
    const known = new Map<string, Known>();
    const leftOut: LeftOut[] = [];
    const read = await readDefinitions(this.store, (note) => leftOut.push(note));
    this.leftOut = leftOut;
    const others = read.filter(({ process }) => process !== this.store.fleet?.process);
    this.isSilent = others.length > 0 && others.every(({ denials }) => denials === undefined);
    for (const { limiters, process } of read) {
      const isOwn = process === this.store.fleet?.process;
      for (const definition of limiters) {
        const { name, kind, policies, key, members } = definition;
        // The latest published definition counts: other processes can run an older version of the program.
        const latest = known.get(name) ?? {
          definition,
          name,
          kind,
          policies,
          policyTexts: textsOf(policies),
          key,
          members,
          processes: 0,
          isOwn: false,
        };
        // Rules publish one combination of the same name for each set of rules that match together.
        const all = latest.members && { ...members, ...latest.members };
        known.set(name, {
          ...latest,
          members: all,
          processes: latest.processes + 1,
          isOwn: latest.isOwn || isOwn,
        });
      }
    }
    return known;
  }
}

/** Is it the name of an axis of what runs at once? Denials are counted under it, and the meter shows its keys. */
const isAtOnce = ({ name: meter, meter: of }: LimiterDefinition, name: string): boolean =>
  Object.entries(of?.axes ?? {}).some(
    ([axis, { algorithm }]) => algorithm === 'concurrency' && name === `${meter}:${axis}`,
  );

const textsOf = (policies: LimiterDefinition['policies']): LimiterInfo['policyTexts'] =>
  Object.fromEntries(Object.entries(policies).map(([name, policy]) => [name, policyText(policy)]));
