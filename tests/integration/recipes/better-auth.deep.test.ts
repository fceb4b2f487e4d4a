import { uniqueName } from '../../support/redis-url.js';
import { recipePackages } from './packages.js';
import { type Program, startBlock } from './program.js';

const PAGE = 'docs/host-stores.md';

let modules: string;
beforeAll(async () => {
  modules = await recipePackages();
}, 300_000);

const opened: Program[] = [];
afterEach(async () => {
  for (const program of opened.splice(0)) await program.stop();
});

async function start(name: string): Promise<Program> {
  const replace = {
    'process.env.BETTER_AUTH_SECRET': "'4Vt1q0yN7mRz2uKx9bWcE5dHfJ8sLpGa'",
    " name: '": ` name: '${name}-`,
    ', store })': ", store, deadline: '30s' })",
    // A wrong password is logged.
    'emailAndPassword:': 'logger: { disabled: true }, emailAndPassword:',
    'window: 60': 'window: 3600',
  };
  const program = await startBlock(PAGE, 'better-auth', { modules, replace });
  opened.push(program);
  return program;
}

const post = (program: Program, path: string, body: object, headers = {}) =>
  fetch(`${program.url}/api/auth/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: program.url, ...headers },
    body: JSON.stringify(body),
  });

test('Better Auth denies the sixth sign-in of an address, in all processes, whatever headers the client writes', async () => {
  const name = uniqueName('better-auth');
  const programs = [await start(name), await start(name)];
  const statuses = [];
  for (let i = 0; i < 7; i += 1) {
    const invented = { 'X-Forwarded-For': `192.0.2.${i}`, 'X-Connection-Address': `192.0.2.${i}` };
    const body = { email: 'ann@example.com', password: `guess number ${i}` };
    const response = await post(programs[i % 2]!, 'sign-in/email', body, invented);
    statuses.push(response.status);
    const wait = Number(response.headers.get('X-Retry-After') ?? 0);
    expect(wait > 3_500 && wait <= 3_600).toBe(response.status === 429);
  }
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429]);
  // Another path counts apart.
  const ann = { name: 'Ann', email: 'ann@example.com', password: 'a long enough password' };
  expect((await post(programs[0]!, 'sign-up/email', ann)).status).toBe(200);
  expect(programs.map((program) => program.output())).toEqual(['', '']);
});
