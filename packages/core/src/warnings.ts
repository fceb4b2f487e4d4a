import { channel, process } from '#platform';
import { sharedByCopies } from './maps.js';

/** The code of a warning; each has a section in docs/warnings.md. */
export type WarningCode =
  | 'SLUICE_TRUST_PROXY_ALL'
  | 'SLUICE_FORWARDED_UNTRUSTED'
  | 'SLUICE_COUNTED_TWICE'
  | 'SLUICE_IPV6_KEY'
  | 'SLUICE_NO_KEY'
  | 'SLUICE_SYNC_METHOD'
  | 'SLUICE_UNIT'
  | 'SLUICE_SKIPS_NOTHING'
  | 'SLUICE_OVERRIDE_UNUSED'
  | 'SLUICE_MEMORY_IN_CLUSTER'
  | 'SLUICE_LIMIT_PER_REQUEST'
  | 'SLUICE_SHORT_WINDOW'
  | 'SLUICE_REFUND_LOST'
  | 'SLUICE_DRY_RUN_FAILED'
  | 'SLUICE_CLIENT_RESENDS'
  | 'SLUICE_EVICTION'
  | 'SLUICE_DECLARED_KEYS'
  | 'SLUICE_FLEET_REFUSED'
  | 'SLUICE_STORE_OUT'
  | 'SLUICE_SAME_NAME'
  | 'SLUICE_DASHBOARD_AUTHORIZE'
  | 'SLUICE_DASHBOARD_FAILED'
  | 'SLUICE_SERVE_FAILED'
  | 'SLUICE_LOG_FAILED'
  | 'SLUICE_THRESHOLD_LOST';

/** A warning that the process emits, of type `SluiceWarning`. */
export interface WarningMessage {
  readonly code: WarningCode;
  readonly message: string;
}

const published = channel('sluice:warning');

const GUIDE = 'https://github.com/sluice-limits/sluice/blob/main/docs/warnings.md';

/** Most subjects that are remembered: they may come from requests and must not fill the memory. */
const MOST = 1000;

const given = sharedByCopies('warnings', () => new Set<string>());

/**
 * Emits a process warning of type `SluiceWarning` once for each code and subject in this process, and none after 1000 of them.
 * @param subject what the warning is about, such as the name of a limiter
 */
export function warnOnce(code: WarningCode, subject: string, message: string): void {
  const what = `${code} ${subject}`;
  if (given.size >= MOST || given.has(what)) return;
  given.add(what);
  warn(code, message);
}

/** Emits a process warning of type `SluiceWarning` at each call, for events that can happen again. */
export function warn(code: WarningCode, message: string): void {
  if (published.hasSubscribers) published.publish({ code, message } satisfies WarningMessage);
  process.emitWarning(message, {
    type: 'SluiceWarning',
    code,
    detail: `What to do: ${GUIDE}#${code.toLowerCase()}`,
  });
}
