import type { ExecutionContext, OnApplicationShutdown } from '@nestjs/common';
import { limitRequests, type RequestLimit } from '@sluice/core';
import { closeSluice, configureSluice } from '@sluice/decorators';
import {
  closedStores,
  type RateLimitGuardOptions,
  type RootOptions,
  readModuleOptions,
  type SluiceModuleOptions,
  withDefaults,
} from './options.js';
import { attachDecision } from './request.js';

export type GuardLimit = RequestLimit<[context: ExecutionContext]>;

/** Under this token guards find the module's configuration. A symbol of the process: the package may be loaded twice. */
export const SLUICE_ROOT: unique symbol = Symbol.for('sluice.nestjs.root');

/** Of several applications in a process, as tests have them, the one that began last configures decorated methods. */
const open: SluiceRoot[] = [];

/** What one application has of Sluice: the configuration of its decorated methods, its guards' limits, its store. */
export class SluiceRoot implements OnApplicationShutdown {
  /** The limit of `forRoot({ limit })`. */
  readonly globalLimit: GuardLimit | undefined;
  readonly #options: RootOptions;
  readonly #limits = new Map<RateLimitGuardOptions, GuardLimit>();

  /** @throws RangeError, TypeError naming the option that is wrong */
  constructor(given: SluiceModuleOptions) {
    const { limit, ...options } = readModuleOptions(given);
    this.#options = options;
    // There is one in an application, so it needs no name to be told apart in a store.
    this.globalLimit =
      limit &&
      this.limit(limit.limiter === undefined ? { name: 'default', ...limit } : limit, 'SluiceModule: limit');
    configureSluice(options);
    open.push(this);
  }

  /** The limit of a guard's options: one for all instances of the guard. */
  limit(options: RateLimitGuardOptions, where = 'RateLimitGuard'): GuardLimit {
    let limit = this.#limits.get(options);
    if (limit === undefined) {
      limit = limitRequests(where, withDefaults(options, this.#options), attachDecision);
      this.#limits.set(options, limit);
    }
    return limit;
  }

  /** Nest calls it when the server has answered its last request. */
  async onApplicationShutdown(): Promise<void> {
    const { store } = this.#options;
    if (store !== undefined) closedStores.add(store);
    await Promise.all([this.#giveUpMethods(), ...[...this.#limits.values()].map((limit) => limit.close())]);
    await store?.close();
  }

  async #giveUpMethods(): Promise<void> {
    const configuredByUs = open.at(-1) === this;
    open.splice(open.indexOf(this), 1);
    const before = open.at(-1);
    if (before === undefined) await closeSluice();
    else if (configuredByUs) configureSluice(before.#options);
  }
}
