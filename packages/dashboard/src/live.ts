import { isSluiceError, type Store, subscribe } from '@sluice/core';
import { isStoreRefusal } from '@sluice/core/internal';
import { followDenials, type LeftOut } from '@sluice/fleet';
import { Decisions } from './decisions.js';
import { Denials } from './denials.js';
import { asError, warnOfRead } from './failure.js';
import type { Limiters } from './limiters.js';
import type { About, Events, Finding, LimiterInfo, Usage } from './messages.js';
import { StoreWatch } from './store-watch.js';
import type { Send, Source } from './streams.js';
import { Unread } from './unread.js';
import { usageOf } from './usage.js';

const SECOND = 1_000;
/** Pause between two searches for findings, ms. */
const MINUTE = 60_000;
/** Pause between two reads of new denials, ms. */
const SOON = 250;
/** Pause between two reads of the definitions of other processes, ms. */
const FLEET = 2_500;
/** How long counting continues without a page, so that a reloaded page has its history, ms. */
const LINGER = 10_000;

/** The data of all open pages. It causes no load while no page is open. */
export class Live {
  readonly #pages = new Set<Page>();
  readonly #watch: StoreWatch;
  #decisions = new Decisions();
  #denials = new Denials();
  #limiters: readonly LimiterInfo[] = [];
  #named: ReadonlyMap<string, LimiterInfo> = new Map();
  #usage: Usage = null;
  /** Null: no search for findings. */
  #found: readonly Finding[] | null = null;
  #unread = new Unread();
  #stops: (() => void)[] = [];
  #lingers: NodeJS.Timeout | undefined;
  #isReading = false;

  constructor(
    private readonly store: Store,
    private readonly limiters: Limiters,
    private readonly write: boolean,
    private readonly look?: () => Promise<readonly Finding[]>,
  ) {
    this.#watch = new StoreWatch(store);
  }

  readonly source: Source = (send) => {
    clearTimeout(this.#lingers);
    if (this.#stops.length === 0) this.#start();
    else void this.#readFleet();
    const page = new Page(send);
    this.#pages.add(page);
    page.send('about', this.#about);
    page.send('limiters', this.#limiters);
    page.send('usage', this.#usage);
    page.send('findings', this.#findings);
    page.send('history', this.#decisions.kept);
    page.send('reports', this.#denials.reports);
    page.denials(this.#denials, this.#named);
    return () => {
      this.#pages.delete(page);
      if (this.#pages.size === 0) this.#lingers = setTimeout(() => this.stop(), LINGER).unref();
    };
  };

  stop(): void {
    clearTimeout(this.#lingers);
    for (const stop of this.#stops.splice(0)) stop();
  }

  get #findings(): Events['findings'] {
    const { findings } = this.#unread;
    return findings.length === 0 ? this.#found : [...findings, ...(this.#found ?? [])];
  }

  get #about(): About {
    return { store: this.store.name, address: this.#watch.address ?? null, write: this.write };
  }

  #start(): void {
    const decisions = new Decisions();
    this.#decisions = decisions;
    const denials = new Denials();
    this.#denials = denials;
    this.#unread = new Unread();
    const every = (ms: number, work: () => unknown) => {
      const timer = setInterval(work, ms).unref();
      return () => clearInterval(timer);
    };
    this.#stops = [
      subscribe('sluice:decision', decisions.add),
      this.#watch.start(),
      this.#follow(denials),
      every(SECOND, () => {
        this.#sendAll('second', decisions.next());
        this.#sendAll('health', { roundTrip: denials.roundTrip(), out: this.#watch.out });
      }),
      every(SOON, () => {
        for (const page of this.#pages) page.denials(denials, this.#named);
      }),
      every(FLEET, () => this.#readFleet()),
      every(MINUTE, () => this.#find()),
    ];
    void this.#readFleet();
    void this.#find();
  }

  #follow(denials: Denials): () => void {
    let sent = 0;
    const changed = (problem: string | null) => {
      denials.problem = problem;
      this.#sendAll('reports', denials.reports);
    };
    return followDenials(this.store, {
      report: (report) => {
        denials.add(report);
        const { omitted } = denials.reports;
        if (omitted > sent) this.#sendAll('reports', denials.reports);
        sent = omitted;
      },
      leftOut: (note) => {
        if (this.#unread.denials(note)) this.#sendAll('findings', this.#findings);
      },
      // An outage is reported by the reads of this page.
      lost: (error) => changed(isStoreRefusal(error) ? error.message : null),
      resumed: () => changed(null),
    });
  }

  async #readFleet(): Promise<void> {
    // One read at a time: a frozen server has not answered the previous one.
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      const limiters = await this.limiters.list();
      const leftOut: LeftOut[] = [...this.limiters.leftOut];
      const usage = await usageOf(this.store, limiters, (note) => leftOut.push(note));
      this.#watch.answered();
      if (this.#unread.published(leftOut)) this.#sendAll('findings', this.#findings);
      this.#reportSilence();
      if (JSON.stringify(limiters) !== JSON.stringify(this.#limiters)) {
        this.#limiters = limiters;
        this.#named = new Map(limiters.map((info) => [info.name, info]));
        this.#sendAll('limiters', limiters);
      }
      this.#usage = usage;
      this.#sendAll('usage', usage);
    } catch (error) {
      this.#watch.failed(asError(error));
      if (!isSluiceError(error)) warnOfRead(error);
    } finally {
      this.#isReading = false;
    }
  }

  #reportSilence(): void {
    const denials = this.#denials;
    if (denials.isSilent === this.limiters.isSilent) return;
    denials.isSilent = this.limiters.isSilent;
    this.#sendAll('reports', denials.reports);
  }

  async #find(): Promise<void> {
    if (this.look === undefined) return;
    try {
      this.#found = (await this.look()).filter(({ level }) => level !== 'ok');
    } catch (error) {
      const what = `The store could not be examined: ${asError(error).message}`;
      this.#found = [{ level: 'error', what, why: '', fix: '' }];
    }
    this.#sendAll('findings', this.#findings);
  }

  #sendAll<E extends keyof Events>(event: E, data: Events[E]): void {
    for (const page of this.#pages) page.send(event, data);
  }
}

/** One open page. */
class Page {
  #lastDenial = 0;

  constructor(private readonly write: Send) {}

  send<E extends keyof Events>(event: E, data: Events[E]): void {
    this.write(event, data);
  }

  denials(denials: Denials, limiters: ReadonlyMap<string, LimiterInfo>): void {
    if (denials.lastId === this.#lastDenial) return;
    this.send('denials', denials.after(this.#lastDenial, limiters));
    this.#lastDenial = denials.lastId;
  }
}
