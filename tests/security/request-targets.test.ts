import { frameworks } from '../contracts/adapters/on-each-framework.js';
import { reached, serveTargets } from './request-targets.js';

const able = frameworks.filter(({ cannot }) => cannot?.rawTargets === undefined);
const servers = able.flatMap(({ name, serve, variants, cannot }) =>
  Object.entries({ [name]: serve, ...variants }).flatMap(([title, start]) =>
    (cannot?.http2 === undefined ? [false, true] : [false]).map(
      (http2) => [`${title}${http2 ? ' over HTTP/2' : ''}`, start, http2] as const,
    ),
  ),
);

test.each(servers)('%s: no request target reaches a handler uncounted', async (_, serve, http2) => {
  const { url, close } = await serveTargets(serve, http2);
  const { found, uncounted } = await reached(url, http2);
  await close();
  expect(uncounted).toEqual([]);
  expect(found).toEqual(
    expect.arrayContaining(['/v1/login', 'http://a/v1/login', '/search/../x', '/search/../health']),
  );
});
