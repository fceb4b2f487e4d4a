import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { pathOf, queryOf, type Verdict, writtenPathOf } from '@sluice/http';
import { z } from 'zod';
import { type Call, EMPTY_REQUEST, policyOf } from './decider.js';
import { BadCall } from './errors.js';

/** The longest body, bytes. */
const MOST_BYTES = 65_536;

const text = z.string().min(1);
const optional = text.optional();
const any = z.unknown().optional();
const record = z.record(z.string(), z.unknown());
const values = record.default({});
const header = z.union([z.string(), z.number(), z.array(z.string())]);
const cost = z.int().min(0).optional();

/** The body of `/v1/consume`. */
export const NAMED = z.strictObject({ rule: text, key: text, plan: optional, cost });
/** The body of `/v1/request`. */
export const REQUEST = z.strictObject({
  ...{ method: text.default('GET'), path: text.startsWith('/').default('/'), host: optional, ip: optional },
  ...{ headers: z.record(z.string(), header).default({}), params: values, query: values },
  cookies: record.optional(),
  ...{ user: any, body: any, cost },
});

/** The JSON body of a request. @throws BadCall */
export async function bodyOf<T>(request: IncomingMessage, schema: z.ZodType<T>): Promise<T> {
  // A page of another origin needs permission for this type, and gets none here.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    throw new BadCall('Send the content-type application/json.', 415);
  let size = 0;
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_BYTES) throw new BadCall(`The body is longer than ${MOST_BYTES} bytes.`, 413);
    chunks.push(chunk);
  }
  const { data, error } = schema.safeParse(parsed(Buffer.concat(chunks).toString()));
  if (error !== undefined) throw new BadCall(z.prettifyError(error).slice(0, 1_000));
  return data as T;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new BadCall((error as Error).message);
  }
}

export const namedCall = ({ cost, ...named }: z.infer<typeof NAMED>): Call => ({
  ...EMPTY_REQUEST,
  ...{ named, cost },
});

export function requestCall({ path, host, headers, query, ...more }: z.infer<typeof REQUEST>): Call {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const target = targetOf(path);
  const headersWithHost = { ...Object.fromEntries(lower), ...(host !== undefined && { host }) };
  const parts = { query: { ...target.query, ...query }, headers: headersWithHost, bodyParsed: true };
  return { ...EMPTY_REQUEST, ...more, ...target, ...parts };
}

/**
 * The request that a proxy has for its service, by the headers that Caddy and Traefik send. Both replace what their client wrote.
 * @throws BadCall if one is missing: without the method, a rule for POST would limit nothing
 */
export function forwardedCall(headers: IncomingHttpHeaders): Call {
  const [target, ...others] = ['uri', 'method', 'host', 'for'].map((name) =>
    headers[`x-forwarded-${name}`]?.toString(),
  );
  const [method, host, ip] = others.map((list) => list?.split(',').at(-1)?.trim());
  if (target === undefined || method === undefined || host === undefined || ip === undefined)
    throw new BadCall('The proxy must send X-Forwarded-Uri, -Method, -Host and -For.');
  return { ...EMPTY_REQUEST, ...targetOf(target), method, ip, headers: { ...headers, host } };
}

const targetOf = (target: string) => ({
  path: pathOf(target),
  writtenPath: writtenPathOf(target),
  query: queryOf(new URLSearchParams(/\?[^#]*/.exec(target)?.[0] ?? '')),
});

/**
 * A decision as JSON, which has no `Infinity`.
 * @param after the header Retry-After
 */
export function decisionOf(verdict: Verdict, after: string | undefined): object {
  const { decision } = verdict;
  if (decision === undefined) {
    if (verdict.outcome !== 'denied') return { allowed: true };
    return { allowed: false, retryAfterMs: 1_000 * Number(after), source: 'deny', degraded: true };
  }
  const { allowed, limit, remaining, retryAfter, resetAfter, source, degraded } = decision;
  const retryAfterMs = Number.isFinite(retryAfter) ? retryAfter : null;
  const policy = policyOf(decision);
  return { allowed, policy, limit, remaining, retryAfterMs, resetAfterMs: resetAfter, source, degraded };
}
