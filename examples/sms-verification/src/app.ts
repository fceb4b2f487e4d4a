import { randomInt } from 'node:crypto';
import { type Duration, fixedWindow, type Store } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { SmsGateway } from './gateway.js';

/** A server that sends codes, with its limits in a store. @param deadline the longest wait for the store */
export function createApp(gateway: SmsGateway, store: Store, deadline: Duration = '100ms'): Express {
  // All or nothing: a code that one limit denies takes nothing from the others.
  const limit = rateLimit({
    name: 'codes',
    limits: {
      perPhone: {
        policies: {
          perMinute: fixedWindow({ limit: 1, window: '1m' }),
          perDay: fixedWindow({ limit: 5, window: '1d' }),
        },
        key: '#{body.phone}',
      },
      perIp: { policy: fixedWindow({ limit: 10, window: '1h' }) },
      // The budget of a day, for all clients together.
      everybody: {
        policy: fixedWindow({ limit: 10_000, window: '1d', align: 'clock' }),
        limitType: 'METHOD',
      },
    },
    standardHeaders: false, // hides the rest of the day's budget; Retry-After is still sent
    store,
    deadline,
  });

  const app = express();
  app.use(express.json({ limit: '1kb' }), express.urlencoded({ extended: true, limit: '1kb' }));
  app.post('/codes', onlyPhoneNumbers, limit, async (request, response) => {
    const { phone } = request.body as { phone: string };
    const code = String(randomInt(1_000_000)).padStart(6, '0');
    try {
      await gateway.send(phone, `Your code is ${code}`);
    } catch (error) {
      // Not with skipFailedRequests, which also refunds a client that disconnects after its code was sent.
      await limit.refund(request.rateLimit!).catch((reason: Error) => console.error(reason.message));
      response
        .status(502)
        .type('text')
        .send(`${(error as Error).message}; try again\n`);
      return;
    }
    response.status(202).type('text').send(`a code for ${phone} is on its way\n`);
  });
  app.use(inOneLine);
  return app;
}

/** Rejects everything that is no phone number, such as `?phone[]=`. All spellings of a number become one. */
const onlyPhoneNumbers: RequestHandler = (request, response, next) => {
  const phone: unknown = request.body?.phone;
  const number = typeof phone === 'string' ? phone.replace(/[\s().-]/g, '') : '';
  if (/^\+[1-9]\d{6,14}$/.test(number)) {
    request.body.phone = number;
    next();
  } else {
    response.status(400).type('text').send('phone must be a number such as +49 151 23456789\n');
  }
};

/** Answers a body that cannot be read (400, 413). */
const inOneLine: ErrorRequestHandler = (error, _request, response, next) => {
  if (error.status === undefined) next(error);
  else response.status(error.status).type('text').send(`${error.message}\n`);
};
