import 'reflect-metadata';
import assert from 'node:assert/strict';
import { isRateLimitExceededError, KeyResolutionError } from '@sluice/core';
import { CountLimit, configureSluice, LimitType, RateLimit } from '@sluice/decorators';
import rateLimit, { ipKeyGenerator, type Options } from '@sluice/express';
import { rateLimit as fastifyPlugin } from '@sluice/fastify';
import { requestContext } from '@sluice/koa';

class User {
  constructor(readonly id: number) {}
}

class Orders {
  @CountLimit({ key: '#{user.id}', limitType: LimitType.CUSTOM, limit: 2, period: 60 })
  async place(user: User, _item: string): Promise<number> {
    return user.id;
  }

  @RateLimit({ rate: 1 / 3600 })
  static async report(): Promise<string> {
    return 'report';
  }
}

async function main(): Promise<void> {
  configureSluice({ keyPrefix: 'consumer' });
  const orders = new Orders();
  const ann = new User(1);
  assert.equal(await orders.place(ann, 'tea'), 1);
  assert.equal(await orders.place(ann, 'tea'), 1);
  await assert.rejects(orders.place(ann, 'tea'), isRateLimitExceededError);
  assert.equal(await orders.place(new User(2), 'tea'), 2);
  await assert.rejects(orders.place({} as User, 'tea'), KeyResolutionError);

  assert.equal(await Orders.report(), 'report');
  await assert.rejects(Orders.report(), isRateLimitExceededError);

  // The metadata for injection and routing is still there.
  assert.deepEqual(Reflect.getMetadata('design:paramtypes', Orders.prototype, 'place'), [User, String]);
  assert.deepEqual([orders.place.name, orders.place.length], ['place', 2]);

  const former: Partial<Options> = {
    windowMs: 60_000,
    limit: 5,
    keyGenerator: ({ ip }) => ipKeyGenerator(ip),
  };
  assert.equal(typeof rateLimit(former), 'function');
  for (const part of [rateLimit, fastifyPlugin, requestContext]) assert.equal(typeof part, 'function');
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
