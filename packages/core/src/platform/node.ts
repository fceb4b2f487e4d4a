/**
 * Everything that core takes from Node.js. It is imported as `#platform`: package.json chooses this file where the condition `node` holds, and
 * web.ts elsewhere. No other file of core imports a module of Node.js.
 */
import { createHash } from 'node:crypto';
import * as timing from 'node:perf_hooks';
import process from 'node:process';
import { types } from 'node:util';
import lazy from '../lazy.cjs';

export { randomFillSync, randomUUID } from 'node:crypto';
export { channel, tracingChannel } from 'node:diagnostics_channel';
export { EventEmitter, errorMonitor } from 'node:events';
export { hostname } from 'node:os';

export const performance: timing.Performance = timing.performance;

export { process };

/** Packages that few programs need: they load when they are first used. */
export const { fleet, jsonPath } = lazy;
export const ioredis = () => import('ioredis');

/** Why `redisStore` cannot work here. */
export const noRedis: string | undefined = undefined;
/** May code run between requests, on timers of its own? An edge runtime ends a timer with the request that started it, and has none while it loads. */
export const hasBackground: boolean = true;
export const isNativeError: (value: unknown) => boolean = types.isNativeError;

/** The SHA-256 of a text, in base64url. */
export const sha256 = (text: string, encoding: 'utf8' | 'utf16le'): string =>
  createHash('sha256').update(text, encoding).digest('base64url');

/** A copy of an ASCII text that shares no memory with other strings. */
export const copyOfAscii = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');
