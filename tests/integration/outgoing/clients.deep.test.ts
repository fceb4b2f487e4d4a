import { createRequire } from 'node:module';
import { bundle } from '../../support/bundle.js';
import { FakeUpstream } from '../../support/outgoing/fake-upstream.js';
import type { callBy } from './clients.js';

/** Clients that are modules only. */
let program: Awaited<ReturnType<typeof bundle>>;
let call: typeof callBy;
let service: FakeUpstream;
beforeAll(async () => {
  program = await bundle(require.resolve('./clients.ts'));
  call = createRequire(__filename)(program.file).callBy;
});
afterEach(() => service.stop());
afterAll(() => program.remove());

test.each(['ky', 'got'] as const)(
  '%s waits for a pause and gets the response of the second call',
  async (client) => {
    service = await FakeUpstream.start();
    service.script = (_, number) => (number === 1 ? [429, { 'retry-after': '0.2' }] : [200, {}]);
    expect(await call(client, service.origin)).toBe('{}');
    expect(service.log).toHaveLength(2);
    expect(service.log[1]!.at - service.log[0]!.at).toBeGreaterThan(190);
  },
);
