import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express';

/** The common interface of both packages: limits from the same options. */
export type RateLimit = (options: {
  windowMs?: number;
  limit?: number | ((request: Request, response: Response) => number | Promise<number>);
  max?: number;
  standardHeaders?: boolean | 'draft-6' | 'draft-7' | 'draft-8';
  legacyHeaders?: boolean;
  identifier?: string;
  message?: string | object;
  statusCode?: number;
  ipv6Subnet?: number;
  requestPropertyName?: string;
  skipSuccessfulRequests?: boolean;
  skipFailedRequests?: boolean;
  keyGenerator?: (request: Request, response: Response) => string;
  skip?: (request: Request, response: Response) => boolean;
  requestWasSuccessful?: (request: Request, response: Response) => boolean;
  handler?: (request: Request, response: Response, next: NextFunction) => void;
}) => RequestHandler;

const MINUTE = 60 * 1000;

/**
 * A shop's server as written for express-rate-limit: a limit for all requests, one for failed logins of an account, one with its own
 * answer, and one whose numbers depend on the customer. The import of `rateLimit` is a parameter.
 */
export function shop(rateLimit: RateLimit): express.Express {
  const app = express();
  app.set('trust proxy', 1);

  app.use(
    rateLimit({
      windowMs: 15 * MINUTE,
      limit: 30,
      standardHeaders: 'draft-7',
      legacyHeaders: false,
      ipv6Subnet: 56,
      message: 'Too many requests, please try again later.',
      skip: (request) => ['/health', '/quotas'].includes(request.path),
    }),
  );
  app.get('/health', (_request, response) => void response.send('up'));
  app.get('/', (request, response) => {
    const { limit, remaining } = (request as Request & { rateLimit: { limit: number; remaining: number } })
      .rateLimit;
    response.json({ limit, remaining });
  });

  const login = rateLimit({
    windowMs: 10 * MINUTE,
    max: 2,
    standardHeaders: true,
    legacyHeaders: true,
    skipSuccessfulRequests: true,
    keyGenerator: (request) => request.body.account,
    message: { error: 'Too many failed logins' },
  });
  app.post('/login', express.json(), login, (request, response) => {
    response.sendStatus(request.body.password === 'secret' ? 200 : 401);
  });

  const search = rateLimit({
    windowMs: MINUTE,
    limit: 1,
    standardHeaders: false,
    legacyHeaders: true,
    requestPropertyName: 'search',
    handler: (_request, response) => void response.status(503).send('Later'),
  });
  app.get('/search', search, (_request, response) => void response.send('found'));

  const reports = rateLimit({
    windowMs: MINUTE,
    limit: async (request) => (request.query.plan === 'premium' ? 2 : 1),
    standardHeaders: 'draft-6',
    legacyHeaders: false,
    statusCode: 420,
    message: 'Enhance your calm',
    skipFailedRequests: true,
    requestWasSuccessful: (_request, response) => response.statusCode !== 404,
  });
  app.get('/reports', reports, (request, response) => {
    response.sendStatus(request.query.missing === undefined ? 200 : 404);
  });

  const quotas = rateLimit({ windowMs: MINUTE, limit: 5, standardHeaders: 'draft-8', identifier: 'quotas' });
  app.get('/quotas', quotas, (_request, response) => void response.send('5 a minute'));
  return app;
}

export async function listening(app: express.Express): Promise<{ url: string; server: Server }> {
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
