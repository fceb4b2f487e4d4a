import { join } from 'node:path';
import supertest from 'supertest';
import { compile, NestApp } from './nest-app.js';

let compiled: Awaited<ReturnType<typeof compile>>;
beforeAll(async () => {
  compiled = await compile(join(__dirname, 'apps/guard-order.legacy.ts'), 'esm', 'inside');
});
const started: NestApp[] = [];
afterEach(() => Promise.all(started.splice(0).map((app) => app.kill())));
afterAll(() => compiled?.remove());

test.each([
  ['the root module', [401, 401]],
  ['a module imported before', [401, 401]],
  ['a module imported after', [401, 429]],
  ['useGlobalGuards', [401, 429]],
])("the module's limit and a guard in %s that refuses everything answer %j", async (PLACE, statuses) => {
  const app = await NestApp.start(compiled.file, { PLACE });
  started.push(app);
  const seen = [];
  for (const _ of statuses) seen.push((await supertest(app.url).get('/')).status);
  expect(seen).toEqual(statuses);
});
