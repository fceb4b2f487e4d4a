import { performance } from '#platform';
import { Agenda, type Appointment } from '../../agenda.js';
import { type Decider, type Part, type PartAnswer, storageKey } from '../../call/call.js';
import type { Clock } from '../../clock.js';
import { getOrCreate } from '../../maps.js';
import { LEASE } from '../../telemetry/channels.js';
import type { LeaseMessage } from '../../telemetry/messages.js';

/** Renewals per lease: after two failures there is time for a third attempt. */
const RENEWALS = 4;

/** µs; an override may have another lease than the policy. */
export const leaseOf = ({ limit: { rule } }: Part, { override }: PartAnswer): number =>
  override === undefined ? rule.window : rule.algorithm.figures.size(override).window;

type Changing<T> = { -readonly [K in keyof T]: T[K] };

interface Held {
  readonly store: Decider;
  readonly owner: WeakRef<object>;
  readonly part: Part;
  /** Aborted if the lease is lost; undefined until it is read. */
  lost: AbortController | undefined;
  readonly message: Changing<LeaseMessage> | undefined;
  readonly timer: RenewalTimer<Held>;
  /** The next renewal. */
  next: Appointment<Held> | undefined;
  /** Length of the lease, µs. */
  lease: number;
  /** When the lease began, or was renewed. */
  renewed: number;
}

type Ending = Exclude<LeaseMessage['state'], 'held'>;

/**
 * Renews the leases of permits that this process holds. If the caller never releases them, renewal stops once the decision is garbage
 * collected, and the lease expires.
 */
export class Leases {
  readonly #held = new Map<string, Held>();
  readonly #timers = new Map<Clock, RenewalTimer<Held>>();
  #closed: Error | undefined;

  constructor(private readonly limiter: string) {}

  get size(): number {
    return this.#held.size;
  }

  /** @param owner renewal stops once it is garbage collected */
  hold(store: Decider, owner: object, part: Part, answer: PartAnswer): void {
    const id = idOf(part);
    const known = this.#held.get(id);
    if (known !== undefined) unschedule(known);
    if (this.#closed !== undefined) return;
    const { clock } = store;
    const held: Held = {
      store,
      owner: new WeakRef(owner),
      part,
      lost: undefined,
      message: known === undefined ? this.#messageOf(part) : known.message,
      // Permits that a fallback granted have the clock of the fallback.
      timer: getOrCreate(this.#timers, clock, () => new RenewalTimer(clock, (one) => void this.#renew(one))),
      next: undefined,
      lease: leaseOf(part, answer),
      renewed: clock.now(),
    };
    this.#held.set(id, held);
    schedule(held);
  }

  /** Aborted when the lease of one of these held parts is lost: another call may hold the permits by then. */
  lost(parts: readonly Part[]): AbortSignal {
    const lost = new AbortController();
    for (const part of parts) {
      const held = this.#held.get(idOf(part));
      if (held === undefined) lost.abort(this.#closed ?? lossOf(part));
      else held.lost = lost;
    }
    return lost.signal;
  }

  release(part: Part, state: Ending = 'released'): void {
    const id = idOf(part);
    const held = this.#held.get(id);
    if (held === undefined) return;
    unschedule(held);
    this.#held.delete(id);
    const { message } = held;
    if (message === undefined) return;
    message.state = state;
    message.endedAt = performance.now();
    LEASE.publish(message);
  }

  /** Publishes that permits are held. Undefined without subscribers. */
  #messageOf({ limit, key, cost }: Part): Changing<LeaseMessage> | undefined {
    if (!LEASE.hasSubscribers) return undefined;
    const message: LeaseMessage = {
      limiter: this.limiter,
      policy: limit.name,
      key,
      cost,
      state: 'held',
      startedAt: performance.now(),
      endedAt: undefined,
    };
    LEASE.publish(message);
    return message;
  }

  close(reason: Error): void {
    this.#closed = reason;
    for (const { part, lost } of this.#held.values()) {
      this.release(part, 'lost');
      lost?.abort(reason);
    }
    for (const timer of this.#timers.values()) timer.close();
  }

  async #renew(held: Held): Promise<void> {
    const { store, owner, part } = held;
    const isHeld = () => this.#held.get(idOf(part)) === held;
    if (owner.deref() === undefined) return this.release(part, 'abandoned');
    const sentAt = store.clock.now();
    let renewed = true;
    try {
      const { allowed, parts } = await store.decide({ operation: 'renew', wait: 0, parts: [part] });
      if (!isHeld()) return;
      renewed = allowed;
      held.renewed = sentAt;
      held.lease = leaseOf(part, parts[0]!);
    } catch {
      if (!isHeld()) return;
      // The store may come back before the lease ends. Callers that need a decision get this error.
      renewed = store.clock.now() - held.renewed < held.lease;
    }
    if (renewed) return schedule(held);
    this.release(part, 'lost');
    held.lost?.abort(lossOf(part));
  }
}

function schedule(held: Held): void {
  const { timer, lease, renewed } = held;
  const now = timer.clock.now();
  const left = Math.max(0, renewed + lease - now);
  held.next = timer.add(now + Math.min(Math.floor(lease / RENEWALS), left), held);
}

function unschedule({ timer, next }: Held): void {
  if (next !== undefined) timer.remove(next);
}

const lossOf = ({ limit }: Part): Error =>
  new Error(`The lease of '${limit.name}' was lost: it could not be renewed in time`);

const idOf = (part: Part) => `${part.at} ${storageKey(part)}`;

/**
 * Runs something at moments of a clock, with one sleep at a time: permits are held and released far more often than a lease is renewed.
 * A removed moment wakes nothing, so the last sleep may outlast all entries; it does not keep the process alive.
 */
export class RenewalTimer<T> {
  readonly #agenda = new Agenda<T>();
  /** When the present sleep ends. */
  #until = Number.POSITIVE_INFINITY;
  #sleep: AbortController | undefined;

  constructor(
    readonly clock: Clock,
    private readonly run: (value: T) => void,
  ) {}

  add(at: number, value: T): Appointment<T> {
    const added = this.#agenda.add(at, value);
    if (this.#sleep === undefined) void this.#start();
    else if (at < this.#until) this.#sleep.abort();
    return added;
  }

  remove(appointment: Appointment<T>): void {
    this.#agenda.remove(appointment);
  }

  /** Call it when nothing is left. */
  close(): void {
    this.#sleep?.abort();
  }

  async #start(): Promise<void> {
    for (let next = this.#agenda.first; next !== undefined; next = this.#agenda.first) {
      const sleep = new AbortController();
      this.#sleep = sleep;
      this.#until = next.at;
      try {
        await this.clock.sleep(Math.max(0, next.at - this.clock.now()), sleep.signal, { idle: true });
      } catch {
        if (sleep.signal.aborted) continue;
        // A clock that cannot sleep renews nothing: leases end by themselves, and calls that wait get its error.
        break;
      }
      this.#runDue();
    }
    this.#sleep = undefined;
  }

  #runDue(): void {
    const now = this.clock.now();
    for (let next = this.#agenda.first; next !== undefined && next.at <= now; next = this.#agenda.first) {
      this.#agenda.remove(next);
      this.run(next.value);
    }
  }
}
