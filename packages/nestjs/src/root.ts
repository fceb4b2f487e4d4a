import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { memoryStore } from '@sluice/core';
import { connectAtStart } from '@sluice/core/internal';
import { closeSluice, configureSluice } from '@sluice/decorators';
import { LimitInParts } from './limit-in-parts.js';
import {
  closedStores,
  type RateLimitGuardOptions,
  type RootOptions,
  readModuleOptions,
  type SluiceModuleOptions,
  withDefaults,
  withRules,
} from './options.js';
import { type Level, overridden, overrideOf } from './override-limit.js';

/** Applications of this process, in the order of their start. The last one configures decorated methods. */
const open: SluiceRoot[] = [];

/** Sluice in one application: the configuration of its decorated methods, the limits of its guards, its store. */
export class SluiceRoot implements OnModuleInit, OnApplicationShutdown {
  /** The limit of `forRoot({ limit })`. */
  readonly globalLimit: LimitInParts | undefined;
  readonly #globalOptions: RateLimitGuardOptions;
  readonly #options: RootOptions;
  readonly #limits = new Map<RateLimitGuardOptions, LimitInParts>();
  readonly #overrides = new Map<Level, Map<Level, LimitInParts>>();
  readonly #ownStore = memoryStore();

  /** @throws RangeError, TypeError naming the invalid option */
  constructor(given: SluiceModuleOptions | undefined) {
    const { limit, ...options } = readModuleOptions(given);
    this.#options = options;
    this.#globalOptions = this.#inOneStore(withRules(limit ?? {}, options));
    const limits = limit !== undefined || options.rules !== undefined;
    this.globalLimit = limits ? this.limit(this.#globalOptions, 'SluiceModule: limit') : undefined;
    configureSluice(options);
    open.push(this);
  }

  /** The limit of a guard's options: one for all instances of the guard. */
  limit(options: RateLimitGuardOptions, where = 'RateLimitGuard'): LimitInParts {
    let limit = this.#limits.get(options);
    if (limit === undefined) {
      limit = new LimitInParts(where, withDefaults(options, this.#options));
      this.#limits.set(options, limit);
    }
    return limit;
  }

  /**
   * The limit of `@OverrideLimit` on a handler or a controller: one for each of them, and one for each class that inherits a handler.
   * @returns undefined without an override
   * @throws RangeError, TypeError naming the invalid option
   */
  override(level: Level, controller: Level): LimitInParts | undefined {
    const override = overrideOf(level);
    if (override === undefined) return undefined;
    const ofController = this.#overrides.get(controller) ?? new Map<Level, LimitInParts>();
    this.#overrides.set(controller, ofController);
    let limit = ofController.get(level);
    if (limit === undefined) {
      const name = level === controller ? controller.name : `${controller.name}.${level.name}`;
      const options = this.#inOneStore(overridden(this.#globalOptions, override, name));
      limit = new LimitInParts(`@OverrideLimit on ${name}`, withDefaults(options, this.#options));
      ofController.set(level, limit);
    }
    return limit;
  }

  /** An application has one `limit`, so it needs no name. Its overrides may share its counts. */
  #inOneStore(options: RateLimitGuardOptions): RateLimitGuardOptions {
    if (options.limiter !== undefined || options.rules !== undefined) return options;
    const { name = 'default', store = this.#options.store ?? this.#ownStore } = options;
    return { ...options, name, store };
  }

  /** Called by Nest before the application listens. */
  async onModuleInit(): Promise<void> {
    await connectAtStart(this.#options.store);
    await this.globalLimit?.without([])?.connect(); // it can have its own store
  }

  /** Called by Nest after the last response. */
  async onApplicationShutdown(): Promise<void> {
    const { store } = this.#options;
    if (store !== undefined) closedStores.add(store);
    const overrides = [...this.#overrides.values()].flatMap((limits) => [...limits.values()]);
    const limits = [...this.#limits.values(), ...overrides];
    await Promise.all([this.#releaseMethods(), ...limits.map((limit) => limit.close())]);
    await this.#ownStore.close();
    await store?.close();
  }

  async #releaseMethods(): Promise<void> {
    const at = open.indexOf(this);
    if (at < 0) return; // Nest calls it for each `app.close()`
    const configuredByUs = at === open.length - 1;
    open.splice(at, 1);
    const before = open.at(-1);
    if (before === undefined) await closeSluice();
    else if (configuredByUs) configureSluice(before.#options);
  }
}
