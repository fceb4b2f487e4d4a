/** The other limiters, and packages that only they use. */
const LIMITERS =
  /node_modules\/(?:express-rate-limit|rate-limit-redis|@fastify\/rate-limit|koa-ratelimit|hono-rate-limiter|toad-cache|ip-address|@lukeed\/ms|ms)\//;
const CLIENT = /node_modules\/(?:ioredis|@ioredis|redis-parser|redis-errors|standard-as-callback|denque)\//;
/** Our code without adapters, requests, headers and keys. */
const DECIDING = / core\/dist\/(?:esm|cjs)\/(?!http\/|keys\/)/;
/** V8's pseudo functions. */
const NOBODYS = { '(idle)': 'idle', '(garbage collector)': 'garbage' };

/**
 * Divides a CPU profile among the code that spends the time, in µs. Node's own functions (`setHeader`, the write to a socket) count for their caller. Code that
 * a limiter's `next` runs counts for the framework.
 * @returns `by`: framework, limiter, deciding (a part of limiter), client (of Redis), garbage, idle; `top`: the limiter's functions by
 *   their own time, longest first
 */
export function shares({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const own = new Map();
  samples.forEach((id, i) => {
    own.set(id, (own.get(id) ?? 0) + timeDeltas[i]);
  });
  const by = { framework: 0, limiter: 0, deciding: 0, client: 0, garbage: 0, idle: 0 };
  const functions = new Map();
  const walk = (node, callerOwner, callerPlace) => {
    const { functionName, url, lineNumber } = node.callFrame;
    const owner = ownerOf(functionName, url) ?? callerOwner;
    const named =
      url.startsWith('node:') || url === ''
        ? callerPlace
        : `${functionName} ${url.replace(/.*\/(?:packages|node_modules)\//, '')}:${lineNumber + 1}`;
    const time = own.get(node.id) ?? 0;
    by[owner] += time;
    if (owner === 'limiter') {
      if (DECIDING.test(named)) by.deciding += time;
      functions.set(named, (functions.get(named) ?? 0) + time);
    }
    for (const child of node.children ?? []) walk(byId.get(child), owner, named);
  };
  walk(nodes[0], 'framework', '');
  return { by, top: [...functions].sort(([, a], [, b]) => b - a) };
}

/** Undefined if the function's time counts for its caller. */
function ownerOf(functionName, url) {
  const nobody = NOBODYS[functionName];
  if (nobody !== undefined) return nobody;
  if (url.includes('/packages/') || LIMITERS.test(url)) return 'limiter';
  if (CLIENT.test(url)) return 'client';
  return url === '' || url.startsWith('node:') ? undefined : 'framework';
}
