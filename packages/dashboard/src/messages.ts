import type { Policy } from '@sluice/core';
import type { DefinitionKind, InspectedPolicy } from '@sluice/core/operations';
import type { Reports, RoundTrip } from './reports.js';

// What the page and its server say to each other. Moments are ms since 1970, unless µs of the store's clock are named.

/** The events of the stream `events`. */
export interface Events {
  readonly about: About;
  readonly limiters: readonly LimiterInfo[];
  readonly health: Health;
  /** The last minutes of this process, when the stream begins. */
  readonly history: Seconds;
  /** One second more. */
  readonly second: Seconds;
  readonly usage: Usage;
  readonly denials: readonly Denial[];
  readonly reports: Reports;
  /** Null: nobody looks for them. */
  readonly findings: readonly Finding[] | null;
}

/** Something that makes limits fail, as `sluice doctor` finds it. */
export interface Finding {
  readonly level: 'ok' | 'note' | 'warning' | 'error';
  /** What was seen. */
  readonly what: string;
  /** Why it matters. */
  readonly why: string;
  /** The command or the setting that mends it. */
  readonly fix: string;
  /** `host:port`, if it concerns one server. */
  readonly node?: string;
}

export interface About {
  /** `redis` or `memory`. */
  readonly store: string;
  /** Where it is, without a password. */
  readonly address: string | null;
  /** May keys be changed? */
  readonly write: boolean;
}

export interface LimiterInfo {
  readonly name: string;
  readonly kind: DefinitionKind;
  /** Empty for `combined` and `shared`. */
  readonly policies: Readonly<Record<string, Policy>>;
  /** The same in words. */
  readonly policyTexts: Readonly<Record<string, string>>;
  /** What it counts by, if known. */
  readonly key: string | undefined;
  /** Of `combined`: the names of its limiters, by their names in the combination. */
  readonly members: Readonly<Record<string, string>> | undefined;
  /** How many processes have it. */
  readonly processes: number;
  /** Is the process that serves the page one of them? */
  readonly isOwn: boolean;
}

export interface Health {
  /** Null if no process called the store in the last seconds. */
  readonly roundTrip: RoundTrip | null;
  /** Servers that are out: failure policies decide. */
  readonly out: readonly Outage[];
}

export interface Outage {
  /** `host:port` of a cluster's node; otherwise empty. */
  readonly node: string;
  readonly since: number;
  readonly error: string;
}

/** Calls of this process by limiter: allowed and denied, one pair for each second. The last pair ended at `end`. */
export interface Seconds {
  readonly end: number;
  /** Seconds that were counted. A limiter with fewer pairs had no calls before them. */
  readonly watched: number;
  readonly counts: Readonly<Record<string, readonly (readonly [allowed: number, denied: number])[]>>;
}

/** Calls of all processes of the store. Null: no process counts them. */
export type Usage = UsageOfAll | null;

export interface UsageOfAll {
  /** Of the last slot. */
  readonly end: number;
  /** Length of a slot, ms. */
  readonly step: number;
  /** How many processes count. */
  readonly processes: number;
  readonly limiters: Readonly<Record<string, SlotCounts>>;
  readonly denied: readonly TopKey[];
}

/** Calls in each slot; null before the limiter was counted. */
export interface SlotCounts {
  readonly allowed: readonly (number | null)[];
  readonly denied: readonly (number | null)[];
}

/** A key as its users know it, or else the digest that the store has. */
export interface ShownKey {
  readonly text: string;
  /** Can it be looked up by its text? */
  readonly known: boolean;
}

export interface TopKey {
  readonly limiter: string;
  /** The limiter that has the key: of a combination, a member. */
  readonly owner: string;
  readonly key: ShownKey;
  /** Denied calls, at most `error` too many. */
  readonly count: number;
  readonly error: number;
}

/** The denials of one key in all processes, while a page is open. */
export interface Denial {
  /** The last one, counted from 1. */
  readonly id: number;
  readonly at: number;
  readonly count: number;
  readonly limiter: string;
  /** The limiter that has the key: of a combination, a member. */
  readonly owner: string;
  /** The policy of the last one. */
  readonly policy: string;
  readonly key: ShownKey;
  /** ms until a retry can pass; null: never. */
  readonly retryAfter: number | null;
  /** It was not enforced. */
  readonly shadow: boolean;
  /** The process of the last one, `host:pid`. */
  readonly process: string;
}

/** One key, as `POST key` asks for it. */
export interface KeyRequest {
  readonly limiter: string;
  readonly key: string;
}

/** The events of the stream `key`. */
export interface KeyEvents {
  readonly key: KeyState;
  /** Why the key cannot be read now. */
  readonly problem: string;
}

export interface KeyState {
  /** µs of the store's clock. */
  readonly now: number;
  /** Does the store keep anything of the key? */
  readonly known: boolean;
  readonly allowed: boolean;
  /** µs until a call of one permit can pass; null: never. */
  readonly wait: number | null;
  readonly policies: readonly PolicyState[];
}

export interface PolicyState
  extends Pick<
    InspectedPolicy,
    | 'name'
    | 'policy'
    | 'overridden'
    | 'overrideUntil'
    | 'blockedUntil'
    | 'escalation'
    | 'booked'
    | 'remaining'
  > {
  /** The policy in words. */
  readonly text: string;
  readonly view: InspectedPolicy['state']['view'];
}

/** A change of a key, as `POST change` asks for it. */
export type Change = KeyRequest & {
  /** The user was asked. */
  readonly confirmed: true;
} & (
    | { readonly action: 'unblock' | 'reset' | 'removeOverride' }
    | {
        readonly action: 'override';
        readonly policy: string;
        /** Replace those of the policy. */
        readonly numbers: Readonly<Record<string, number>>;
        /** As in `'1h'`. */
        readonly expiresIn: string;
      }
  );
