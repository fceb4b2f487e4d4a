import type { PauseMessage } from '@sluice/core';
import { PAUSE } from '@sluice/core/internal';
import { scopeOfKey } from '../calls/scopes.js';
import type { RefusalKind } from '../reading/reading.js';

/** Why calls are paused. */
export interface PauseReason {
  /** `exhausted`: a success said that nothing is left. `unknown`: another process has paused. */
  readonly kind: RefusalKind | 'exhausted' | 'unknown';
  /** The upstream's words. */
  readonly reason: string;
  /** Of the response that said so; 0: unknown. */
  readonly status: number;
  /** Of that response: the header that stated the time; '' if another part did, or the documentation of the service. */
  readonly header: string;
}

/** A pause as this process knows it. */
export interface Pause extends PauseReason {
  readonly key: string;
  /** ms since 1970. */
  readonly since: number;
  readonly until: number;
  /** When this process last read it in the store, or wrote it; ms since 1970. */
  readonly seen: number;
  /** Is it in the store? Otherwise only this process knows of it. */
  readonly stored: boolean;
}

export const UNKNOWN: PauseReason = {
  kind: 'unknown',
  reason: 'paused by another process',
  status: 0,
  header: '',
};

/** Publishes that a pause has begun, became longer, or was ended early. */
export function publishPause(upstream: string, state: PauseMessage['state'], pause: Pause): void {
  if (!PAUSE.hasSubscribers) return;
  const { key, kind, reason, status, header, until } = pause;
  PAUSE.publish({ upstream, state, scope: scopeOfKey(key), key, kind, reason, status, header, until });
}
