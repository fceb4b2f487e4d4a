/** An ioredis client with the methods of Upstash's client that the benches need for hono-rate-limiter. */
export const honoClient = (client) => ({
  scriptLoad: (script) => client.script('LOAD', script),
  evalsha: (sha, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args),
});
