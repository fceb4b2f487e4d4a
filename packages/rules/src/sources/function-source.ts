import { describe } from '@sluice/core/internal';
import type { RulesDocument } from '../document/schema.js';
import { fingerprintOf, type RulesSource, RulesSourceError, type SourcedRules } from './rules-source.js';

/** A function of yours that returns rules: as text, or as a document. Pass its signal to the operations that it awaits. */
export type RulesFunction = (options: {
  readonly signal: AbortSignal;
}) => string | RulesDocument | Promise<string | RulesDocument>;

/** Deadline of a call, ms. */
const LONGEST = 10_000;

/** A function as a source, called at intervals. */
export class FunctionSource implements RulesSource {
  readonly name: string;
  readonly identity: RulesFunction;
  readonly every = 30_000;
  /** Ends the pending call. */
  #end: ((why: RulesSourceError) => void) | undefined;

  constructor(private readonly get: RulesFunction) {
    this.identity = get;
    this.name = get.name === '' ? 'a function' : `the function ${get.name}`;
  }

  async read(known: string | undefined): Promise<SourcedRules | undefined> {
    const text = await this.#got();
    if (typeof text !== 'string' && (typeof text !== 'object' || text === null))
      throw new RulesSourceError(
        this.name,
        `it returned ${describe(text)}; it must return a text or a document`,
      );
    const id = fingerprintOf(text);
    return id === known ? undefined : { id, text };
  }

  /** A function that ignores its signal must not keep the process alive. */
  close(): void {
    this.#end?.(new RulesSourceError(this.name, 'the rules were closed'));
  }

  #got(): Promise<string | RulesDocument> {
    const aborter = new AbortController();
    return new Promise((resolve, reject) => {
      const end = (why: RulesSourceError) => {
        clearTimeout(timer);
        reject(why);
        aborter.abort(why);
      };
      const late = () => end(new RulesSourceError(this.name, `no answer within ${LONGEST / 1000} s`));
      const timer = setTimeout(late, LONGEST);
      this.#end = end;
      const call = async () => this.get({ signal: aborter.signal });
      call()
        .then(resolve, reject)
        .finally(() => {
          clearTimeout(timer);
          if (this.#end === end) this.#end = undefined;
        });
    });
  }
}
