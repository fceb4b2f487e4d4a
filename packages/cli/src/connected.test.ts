import { askedOf } from './connected.js';

test.each([
  ['redis://host', ' If it wants TLS: rediss:// or --tls.'],
  ['The cluster host:7000', ' If it wants TLS: rediss:// or --tls.'],
  ['rediss://host', ' If it speaks no TLS: redis://, without --tls.'],
  ['postgres://host/database', ''],
])('a late answer of %s names what may hold it up', async (address, hint) => {
  const never = new Promise(() => {});
  await expect(askedOf({ address, deadline: 1 } as never, never)).rejects.toMatchObject({
    message: `${address} did not answer within 1 ms.`,
    remedy: `Give it longer with --deadline 10s.${hint}`,
  });
});
