import type { AddressInfo } from 'node:net';
import express from 'express';
import { redisStore } from '../../../packages/core/src/index.js';
import { rateLimit } from '../../../packages/express/src/index.js';
import { loadRules, storedRules } from '../../../packages/rules/src/index.js';

// A service with rules from Redis, in its own process. Its first line is its port; the next lines are its versions.
const { redis, cluster, every, skew } = JSON.parse(process.argv[2]!);

const now = Date.now;
Date.now = () => now() + skew;

const store = redisStore(cluster === undefined ? redis : { cluster });

async function main(): Promise<void> {
  const rules = await loadRules(storedRules(store), { store, every, deadline: '2s' });
  const app = express();
  app.get(
    '/rules',
    (_req, res) => void res.json({ version: rules.version, problem: rules.problem?.message }),
  );
  app.use(rateLimit({ rules }));
  app.get('/{*path}', (_req, res) => void res.send('ok'));
  const server = app.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
  server.keepAliveTimeout = 60_000; // it closes no idle connection in the moment of a request
}

void main();
