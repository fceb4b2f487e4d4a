import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type RequestLimitOptions } from '@sluice/core';
import { REQUEST_LIMIT_OPTIONS } from '@sluice/core/http';
import type { RateLimitOptions as Express } from '@sluice/express';
import type { RateLimitPluginOptions as Fastify } from '@sluice/fastify';
import type { RateLimitOptions as Koa } from '@sluice/koa';

type Shared = RequestLimitOptions<never>;
type Own<T> = Record<Exclude<keyof T, keyof Shared>, true>;

type Missing = Exclude<keyof Shared, (typeof REQUEST_LIMIT_OPTIONS)[number]>;
/** An option that the type has, and the names that are accepted have not: then this does not compile. */
const complete: [Missing] extends [never] ? true : Missing = true;

const own: { Express: Own<Express>; Fastify: Own<Fastify>; Koa: Own<Koa> } = {
  Express: {
    handler: true,
    requestPropertyName: true,
    limit: true,
    max: true,
    windowMs: true,
    identifier: true,
  },
  Fastify: {
    global: true,
    hook: true,
    handler: true,
    errorResponseBuilder: true,
    max: true,
    timeWindow: true,
    groupId: true,
    onExceeding: true,
    onExceeded: true,
    ban: true,
    onBanReach: true,
  },
  Koa: { handler: true, max: true, duration: true },
};

/** Every option may be given as undefined: else this does not compile. */
type Undefined<T> = { readonly [K in keyof T]-?: undefined };
const nothing = {} as Undefined<Express> & Undefined<Fastify> & Undefined<Koa>;
const explicit: [Express, Fastify, Koa] = [nothing, nothing, nothing];

const page = readFileSync(resolve(__dirname, '../../../docs/options.md'), 'utf8');
const [shared, ...frameworks] = page.split(/^## Only in /m) as [string, ...string[]];
const documented = (text: string) =>
  [...text.matchAll(/^\| (`.*?`(?:, `.*?`)*) +\|/gm)].flatMap(([, names]) =>
    names!.split(', ').map((name) => name.replaceAll('`', '')),
  );

test('the tables name every option that all adapters share, and no other', () => {
  expect([complete, explicit.length]).toEqual([true, 3]);
  expect(documented(shared).sort()).toEqual([...REQUEST_LIMIT_OPTIONS].sort());
});

test.each(Object.entries(own))(
  'the table of %s names every option that only it has',
  (framework, options) => {
    const section = frameworks.find((text) => text.startsWith(framework))!;
    expect(documented(section).sort()).toEqual(Object.keys(options).sort());
  },
);
