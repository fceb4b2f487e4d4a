import type { Policy } from '@sluice/core';
import type { DefinitionKind } from '@sluice/core/internal';
import type { InspectedPolicy } from '@sluice/fleet';
import type { Reports, RoundTrip } from './reports.js';

// Messages between the page and its server. Moments are ms since 1970, unless µs of the store's clock are named.

/** The events of the stream `events`. */
export interface Events {
  readonly about: About;
  readonly limiters: readonly LimiterInfo[];
  readonly health: Health;
  /** The last minutes of this process, when the stream begins. */
  readonly history: Seconds;
  /** The counts of another second. */
  readonly second: Seconds;
  readonly usage: Usage;
  readonly denials: readonly Denial[];
  readonly reports: Reports;
  /** Null: no search for findings. */
  readonly findings: readonly Finding[] | null;
}

/** A problem for limits, like a finding of `sluice doctor`. */
export interface Finding {
  readonly level: 'ok' | 'note' | 'warning' | 'error';
  /** The observation. */
  readonly what: string;
  /** The reason why it matters. */
  readonly why: string;
  /** The command or the setting that fixes it. */
  readonly fix: string;
  /** `host:port`, if it concerns one server. */
  readonly node?: string;
}

export interface About {
  /** `redis` or `memory`. */
  readonly store: string;
  /** Address of the store, without a password. */
  readonly address: string | null;
  /** Can the page change keys? */
  readonly write: boolean;
}

export interface LimiterInfo {
  readonly name: string;
  readonly kind: DefinitionKind;
  /** Empty for `combined`, `shared` and `meter`. */
  readonly policies: Readonly<Record<string, Policy>>;
  /** The policies as text. */
  readonly policyTexts: Readonly<Record<string, string>>;
  /** The key expression, if known. */
  readonly key: string | undefined;
  /** For `combined`: the names of its limiters, by their names in the combination. */
  readonly members: Readonly<Record<string, string>> | undefined;
  /** Number of processes with this limiter. */
  readonly processes: number;
  /** Is the process that serves the page one of them? */
  readonly isOwn: boolean;
}

export interface Health {
  /** Null if no process called the store in the last seconds. */
  readonly roundTrip: RoundTrip | null;
  /** Servers that are out. Failure policies decide for them. */
  readonly out: readonly Outage[];
}

export interface Outage {
  /** `host:port` of a node of a cluster, otherwise empty. */
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

/** Calls of all processes of the store. Null: no process counts calls. */
export type Usage = UsageOfAll | null;

export interface UsageOfAll {
  /** End of the last slot. */
  readonly end: number;
  /** Length of a slot, ms. */
  readonly step: number;
  /** Number of processes that count. */
  readonly processes: number;
  readonly limiters: Readonly<Record<string, SlotCounts>>;
  readonly denied: readonly TopKey[];
}

/** Calls in each slot; null before the limiter was counted. */
export interface SlotCounts {
  readonly allowed: readonly (number | null)[];
  readonly denied: readonly (number | null)[];
}

/** A key in its original form, or otherwise the stored digest. */
export interface ShownKey {
  readonly text: string;
  /** Can the page read the key by its text? */
  readonly known: boolean;
}

export interface TopKey {
  readonly limiter: string;
  /** The limiter of the key. For a combination, a member. */
  readonly owner: string;
  /** The policy that denied it, by its name in `owner`: the latest, where it was denied most. Absent for a single policy. */
  readonly policy?: string;
  readonly key: ShownKey;
  /** Denied calls, at most `error` too many. */
  readonly count: number;
  readonly error: number;
}

/** The denials of one key in all processes, while a page is open. */
export interface Denial {
  /** Number of the latest denial, from 1. */
  readonly id: number;
  readonly at: number;
  readonly count: number;
  readonly limiter: string;
  /** The limiter of the key. For a combination, a member. */
  readonly owner: string;
  /** The policy of the latest denial. */
  readonly policy: string;
  readonly key: ShownKey;
  /** ms until a retry can pass; null: never. */
  readonly retryAfter: number | null;
  /** True if the denial was not enforced. */
  readonly shadow: boolean;
  /** The process of the latest denial, `host:pid`. */
  readonly process: string;
}

/** The body of `POST key`: one key. */
export interface KeyRequest {
  readonly limiter: string;
  readonly key: string;
}

/** The events of the stream `key`. */
export interface KeyEvents {
  readonly key: KeyState;
  /** Of a meter: the scopes that the key may mean. */
  readonly meter: MeterState;
  /** The reason why the key cannot be read now. */
  readonly problem: string;
}

export interface KeyState {
  /** µs of the store's clock. */
  readonly now: number;
  /** Does the store have a state of the key? */
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

/** The scopes of a meter. Moments are µs of the store's clock. */
export interface MeterState {
  readonly now: number;
  readonly axes: readonly AxisState[];
}

/** One axis of one scope. */
export interface AxisState {
  readonly axis: string;
  readonly scope: string;
  /** Does it report only, and never deny? */
  readonly isSoft: boolean;
  readonly limit: number;
  readonly spent: number;
  readonly held: number;
  /** Below 0 after more was used than was held. */
  readonly left: number;
  /** When 1 of it fits: `now` if it does; null: never. */
  readonly freesAt: number | null;
  /** End of a block; 0 without one. */
  readonly blockedUntil: number;
  /** End of an override; 0 without one. */
  readonly overrideUntil: number;
}

/** The body of `POST change`: a change of a key. */
export type Change = KeyRequest & {
  /** True after the user confirmed. */
  readonly confirmed: true;
} & (
    | { readonly action: 'unblock' | 'reset' | 'removeOverride' }
    | {
        readonly action: 'override';
        readonly policy: string;
        /** Numbers that replace those of the policy. */
        readonly numbers: Readonly<Record<string, number>>;
        /** A duration such as `'1h'`. */
        readonly expiresIn: string;
      }
  );
