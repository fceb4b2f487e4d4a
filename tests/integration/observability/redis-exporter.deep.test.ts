import { spawn } from 'node:child_process';
import { eventually } from '../../support/eventually.js';
import { redisExporter } from '../../support/prometheus.js';
import { freePort } from '../../support/redis/free-port.js';
import { startRedis } from '../../support/redis/redis-server.js';
import { OF_REDIS } from './of-redis.js';
import { readScrape } from './scrape.js';

test('redis_exporter emits the metrics of the queries', async () => {
  const { command, env } = await redisExporter();
  const redis = await startRedis({ args: ['--maxmemory', '64mb'] });
  const port = await freePort();
  const exporter = spawn(command, ['-redis.addr', redis.url, '-web.listen-address', `127.0.0.1:${port}`], {
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });
  try {
    const scrape = await eventually(() =>
      fetch(`http://127.0.0.1:${port}/metrics`).then(
        async (response) => readScrape(await response.text()),
        () => undefined,
      ),
    );
    expect([...scrape.keys()]).toEqual(expect.arrayContaining(OF_REDIS));
  } finally {
    exporter.kill();
    await redis.stop();
  }
});
