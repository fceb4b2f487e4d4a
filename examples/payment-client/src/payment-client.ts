import type { RateLimiter } from '@sluice/core';

export type Outcome = 'paid' | 'refused by the gateway' | 'denied by the limiter';

/** Sends a payment over the network. */
export type Send = (order: string) => Promise<Outcome>;

/** One key for all payments: the gateway counts the calls of all processes together. */
const ALL_PAYMENTS = 'gateway';

export class PaymentClient {
  constructor(
    readonly limiter: RateLimiter,
    readonly send: Send,
  ) {}

  /** Pays at once or not at all. */
  async payNow(order: string): Promise<Outcome> {
    const { allowed } = await this.limiter.consume(ALL_PAYMENTS);
    return allowed ? this.send(order) : 'denied by the limiter';
  }

  /** Waits for a permit, then pays. */
  pay(order: string): Promise<Outcome> {
    return this.limiter.schedule(ALL_PAYMENTS, () => this.send(order));
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
