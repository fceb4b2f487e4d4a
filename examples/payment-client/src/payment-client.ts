import type { RateLimiter } from '@sluice/core';

export type Outcome = 'paid' | 'refused by the gateway' | 'turned away by us';

/** Sends a payment over the network. */
export type Send = (order: string) => Promise<Outcome>;

/** All who pay share one limit: the gateway does not care which of our processes calls. */
const EVERYBODY = 'gateway';

export class PaymentClient {
  constructor(
    readonly limiter: RateLimiter,
    readonly send: Send,
  ) {}

  /** Pays now or not at all. */
  async payNow(order: string): Promise<Outcome> {
    const { allowed } = await this.limiter.consume(EVERYBODY);
    return allowed ? this.send(order) : 'turned away by us';
  }

  /** Pays as soon as it is this payment's turn. */
  pay(order: string): Promise<Outcome> {
    return this.limiter.schedule(EVERYBODY, () => this.send(order));
  }
}

export const sendTo =
  (url: string, headers: () => Record<string, string> = () => ({})): Send =>
  async (order) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: headers(),
      body: JSON.stringify({ order }),
    });
    await response.arrayBuffer();
    return response.ok ? 'paid' : 'refused by the gateway';
  };
