import { NestRequestView } from './request.js';

test.each([
  ['5.4.0', '/Users'],
  ['5.5.0', '/users'],
  ['5.6.2', '/users'],
  ['5.12.8', '/Users'],
])('on Fastify %s, router options without caseSensitive yield the path %s', (version, path) => {
  const initialConfig = { caseSensitive: true, routerOptions: { maxParamLength: 100 } };
  const view = new NestRequestView({ raw: {}, url: '/Users', server: { initialConfig, version } } as never);
  expect(view.path).toBe(path);
});
