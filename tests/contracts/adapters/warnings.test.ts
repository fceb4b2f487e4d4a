import { eventually } from './clients.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

/** Warnings that this process has emitted, because each is emitted once. */
const emitted = (globalThis as { [slot: symbol]: unknown })[Symbol.for('sluice.warnings')] as Set<string>;

onEachAdapter(
  ({ start, place, needs, headerOf }) => {
    let warnings: jest.SpiedFunction<(message: string, options: { code: string }) => void>;
    beforeEach(() => {
      emitted.clear();
      warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {}) as never;
    });
    afterEach(() => warnings.mockRestore());

    const codes = () => warnings.mock.calls.map(([, { code }]) => code);

    needs('trustProxy')('a framework that trusts every X-Forwarded-For causes one warning', async () => {
      const client = await start({ trustProxy: 'all', limits: [{ policy: hourly(9) }] });
      for (const address of ['192.0.2.1', '192.0.2.2']) {
        await client.get('/').set('X-Forwarded-For', address).expect(200);
      }
      expect(codes()).toEqual(['SLUICE_TRUST_PROXY_ALL']);
      expect(warnings.mock.calls[0]![0]).toContain("Trust only your proxies' addresses");
    });

    test('X-Forwarded-For in a framework that trusts no proxy causes a warning', async () => {
      const client = await start({ limits: [{ policy: hourly(9) }] });
      await client.get('/').expect(200);
      expect(codes()).toEqual([]);
      await client.get('/').set('X-Forwarded-For', '192.0.2.1').expect(200);
      await client.get('/').set('Forwarded', 'for=192.0.2.1').expect(200);
      expect(codes()).toEqual(['SLUICE_FORWARDED_UNTRUSTED']);
    });

    needs('trustProxy')('a framework that trusts one proxy causes no warning', async () => {
      const client = await start({ trustProxy: true, limits: [{ policy: hourly(9) }] });
      await client.get('/').set('X-Forwarded-For', '192.0.2.1').expect(200);
      await client.get('/').set('Forwarded', 'for=192.0.2.1').expect(200);
      expect(codes()).toEqual([]);
    });

    test('limits that do not count by address cause no warning about proxies', async () => {
      const client = await start({
        limits: [
          { name: 'user', policy: hourly(9), limitType: 'USER' },
          { name: 'all', policy: hourly(9), limitType: 'METHOD' },
        ],
      });
      await client.get('/').set({ 'X-Forwarded-For': '192.0.2.1', 'x-user': 'ann' }).expect(200);
      expect(codes()).toEqual([]);
    });

    test('a limit that counts a request twice causes a warning, and denies when its count says so', async () => {
      const limit = { ...place('twice'), policy: hourly(4) };
      const client = await start({ limits: [limit, limit] });
      await client.get('/').expect(200);
      await client.get('/').expect(200);
      await client.get('/').expect(429);
      expect(codes()).toEqual(['SLUICE_COUNTED_TWICE']);
    });

    test('limits that differ in name or key cause no warning', async () => {
      const client = await start({
        limits: [
          { name: 'one', policy: hourly(9) },
          { name: 'two', policy: hourly(9) },
          { name: 'one', policy: hourly(9), limitType: 'METHOD' },
        ],
      });
      await client.get('/').expect(200);
      await client.get('/').expect(200);
      expect(codes()).toEqual([]);
    });

    test('a limit on two routers causes no warning', async () => {
      const limits = [{ ...place('shared'), policy: hourly(9) }];
      const client = await start({
        scopes: [
          { at: '/v1', limits, routes: { '/x': [] } },
          { at: '/v2', limits, routes: { '/x': [] } },
        ],
      });
      await client.get('/v1/x').expect(200);
      await client.get('/v2/x').expect(200);
      expect(codes()).toEqual([]);
    });

    test('a key that is a whole IPv6 address causes a warning', async () => {
      const keyGenerator = (request: unknown) => String(headerOf(request, 'x-key'));
      const client = await start({ limits: [{ policy: hourly(9), keyGenerator }] });
      await client.get('/').set('x-key', '2001:db8::1').expect(200);
      expect(codes()).toEqual(['SLUICE_IPV6_KEY']);
    });

    test('a failed refund causes a warning, and its permits stay taken', async () => {
      const requestWasSuccessful = () => Promise.reject(new Error('who knows'));
      const limits = [{ policy: hourly(1), skipSuccessfulRequests: true, requestWasSuccessful }];
      const client = await start({ limits });
      await client.get('/').expect(200);
      await eventually(async () => codes().includes('SLUICE_REFUND_LOST'));
      await client.get('/').expect(429);
    });

    test('a dry run that fails causes a warning', async () => {
      const limits = [{ policy: hourly(1), limitType: 'USER' as const, dryRun: true, onLimited: () => {} }];
      const client = await start({ limits });
      await client.get('/').expect(200);
      expect(codes()).toEqual(['SLUICE_DRY_RUN_FAILED']);
    });

    needs('trustProxy')('validate: false turns these warnings off', async () => {
      const limit = { ...place('twice'), policy: hourly(9), validate: false };
      const client = await start({ trustProxy: 'all', limits: [limit, limit] });
      await client.get('/').set('X-Forwarded-For', '192.0.2.1').expect(200);
      expect(codes()).toEqual([]);
    });
  },
  ['memory'],
);
