import { bare } from './bare.mjs';
import { express } from './express.mjs';
import { fastify } from './fastify.mjs';
import { koa } from './koa.mjs';
import { rateLimiterFlexible } from './rate-limiter-flexible.mjs';
import { redisson } from './redisson.mjs';
import { sluice } from './sluice.mjs';
import { upstash } from './upstash.mjs';

/**
 * The contenders, in the order of the tables.
 * @typedef {object} Contender
 * @property {string} id its name for --only
 * @property {string} name
 * @property {'redis' | 'memory'} where
 * @property {boolean} [sync] `decide` returns its answer rather than a promise of it
 * @property {(key: string, prefix: string) => string} [storedKey] the key in its memory; default: the key itself
 * @property {(limit: number, bench: Bench) => Decide | Promise<Decide>} create a limiter of `limit` permits in a week
 *
 * @typedef {(key: string) => boolean | Promise<boolean>} Decide whether one call passes
 * @typedef {object} Bench
 * @property {(options?: object) => import('ioredis').Redis} open a client of its own, closed by the bench
 * @property {string} prefix of all its keys
 * @property {number} keys number of keys, in memory
 *
 * @type {readonly Contender[]}
 */
export const contenders = [
  ...sluice,
  ...rateLimiterFlexible,
  ...express,
  ...fastify,
  ...upstash,
  ...koa,
  ...redisson,
  ...bare,
];

/** The contender that the ratios compare with. */
export const PEER = { redis: 'flexible', memory: 'flexible-memory', sync: 'fastify-local' };
/** Appears in the line about noise, not in the tables. */
export const AGAIN = 'flexible-again';
