import { concurrency, type Duration, fixedWindow, type Store } from '@sluice/core';
import { budgetHeaders, meter, meterClient, stoppedBy } from '@sluice/meter';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import OpenAI from 'openai';
import { tokensOf } from './tokens.js';

/** Millionths of a dollar for each token. */
const PRICE = { input: 3, output: 15 };
/** Each tenant has one cent a month, in millionths of a dollar. */
const MONTHLY = 10_000;

/** A chat service, whose tenants' budgets are in a store. @param deadline the longest wait for the store */
export function createApp(provider: OpenAI, store: Store, deadline: Duration = '1s'): Express {
  const budget = meter({
    name: 'chat',
    store,
    deadline,
    axes: {
      usd: fixedWindow({ limit: MONTHLY, window: '1 month', timeZone: 'UTC' }),
      running: concurrency({ limit: 4 }),
    },
  });

  const app = express();
  app.post('/chat', express.json({ limit: '16kb' }), async (request, response) => {
    const tenant = tenantOf(request);
    const openai = meterClient(provider, budget, {
      who: tenant,
      count: tokensOf, // the tokenizer of your model, such as countTokens of gpt-tokenizer
      amounts: ({ input, output }) => ({ usd: PRICE.input * input + PRICE.output * output }),
    });
    const messages = [{ role: 'user' as const, content: promptOf(request) }];
    const stream = await openai.chat.completions.create(
      { model: 'fake-1', messages, stream: true },
      { signal: closed(response) },
    );
    response.set(budgetHeaders(await budget.status(tenant))).type('text');
    for await (const chunk of stream) {
      response.write(chunk.choices[0]?.delta.content ?? '');
      const stop = stoppedBy(chunk);
      if (stop !== undefined) response.write(`\n[The budget of this month has ended: ${stop.axis}]`);
    }
    response.end('\n');
  });
  app.get('/budget', async (request, response) => {
    const [usd] = (await budget.status(tenantOf(request))).lines;
    response.json({ of: dollars(usd!.limit), left: dollars(usd!.left) });
  });
  app.use(inOneLine);
  return app;
}

const dollars = (millionths: number) => `$${(millionths / 1e6).toFixed(6)}`;

/** The demo's tenants. Your server checks a token or a session: a client that invents a name must not get a budget of its own. */
const TENANTS = new Set(['acme', 'globex']);

function tenantOf(request: Request): string {
  const tenant = request.get('x-tenant');
  if (tenant === undefined || !TENANTS.has(tenant))
    throw Object.assign(new Error('Name your tenant: x-tenant'), { status: 401 });
  return tenant;
}

function promptOf({ body }: Request): string {
  const { prompt } = body ?? {};
  if (typeof prompt === 'string') return prompt;
  throw Object.assign(new Error('Send a prompt, which is text'), { status: 400 });
}

/** Aborts the provider's request when the client has gone. */
function closed(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}

const HEADERS = ['RateLimit-Policy', 'RateLimit', 'Retry-After'];

/** Answers an invalid request (400, 401, 413), a spent budget (429), a store that is out (503), and a failure of the provider (502). */
const inOneLine: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) {
    next(error); // closes the connection: half a stream is there
    return;
  }
  // The client's error has the headers of the denial: the rest of each axis, and when to try again.
  if (stoppedBy(error))
    for (const name of HEADERS) if (error.headers.has(name)) response.set(name, error.headers.get(name));
  const isProviders = error instanceof OpenAI.APIError && !String(error.code).startsWith('SLUICE_');
  const { status = 502, message } = isProviders ? new Error('The model cannot be called now') : error;
  response.status(status).type('text').send(`${message}\n`);
};
