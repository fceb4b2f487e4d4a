import {
  ConfigurableModuleBuilder,
  Inject,
  type MiddlewareConsumer,
  Module,
  type NestModule,
} from '@nestjs/common';
import {
  type AbstractHttpAdapter,
  APP_FILTER,
  APP_GUARD,
  HttpAdapterHost,
  MetadataScanner,
  ModulesContainer,
} from '@nestjs/core';
import { runWithRequest } from '@sluice/http';
import { SluiceExceptionFilter } from './exception-filter.js';
import { GlobalGuard } from './guard.js';
import { SLUICE_ROOT, type SluiceModuleOptions } from './options.js';
import { type NestRequest, NestRequestView } from './request.js';
import { SluiceRoot } from './root.js';

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<SluiceModuleOptions>({
  moduleName: 'Sluice',
})
  .setClassMethodName('forRoot')
  .setExtras({}, (definition) => ({ ...definition, global: true }))
  .build();

/**
 * Import it once, in the application's module: `SluiceModule.forRoot({ store, limit: { policy } })`, or `forRootAsync` with `useFactory`,
 * `useClass` or `useExisting`. It configures the decorated methods of the process, lets them read the current request, answers denials with
 * 429 and, with `limit`, limits each request that has a handler. The store and all limits are closed with the application.
 */
export class SluiceModule extends ConfigurableModuleClass implements NestModule {
  readonly #host: HttpAdapterHost;
  readonly #root: SluiceRoot;
  readonly #modules: ModulesContainer;

  constructor(host: HttpAdapterHost, root: SluiceRoot, modules: ModulesContainer) {
    super();
    this.#host = host;
    this.#root = root;
    this.#modules = modules;
  }

  /** Nest calls it after the body parsers are added and before users add their own middleware, on both platforms. */
  configure(_consumer: MiddlewareConsumer): void {
    provideRequests(this.#host.httpAdapter);
    this.#makeOverrides();
  }

  /** An invalid `@OverrideLimit` fails at start. */
  #makeOverrides(): void {
    const scanner = new MetadataScanner();
    const controllers = [...this.#modules.values()].flatMap((module) => [...module.controllers.values()]);
    for (const { metatype: controller } of controllers) {
      if (!controller) continue;
      this.#root.override(controller, controller);
      for (const name of scanner.getAllMethodNames(controller.prototype)) {
        this.#root.override(controller.prototype[name], controller);
      }
    }
  }
}

/** Nest's own middleware does not fit: it runs only below the global prefix, and gets raw requests on Fastify. */
function provideRequests(adapter: AbstractHttpAdapter): void {
  const enter = (request: NestRequest, _response: unknown, next: () => void) =>
    runWithRequest(new NestRequestView(request), next);
  if (adapter.getType() !== 'fastify') {
    adapter.use(enter);
    return;
  }
  const fastify = adapter.getInstance<{ addHook(name: string, hook: typeof enter): void }>();
  // Not earlier: reading a body may lose a context that began before it.
  fastify.addHook('preValidation', enter);
}

Inject(HttpAdapterHost)(SluiceModule, undefined, 0);
Inject(SLUICE_ROOT)(SluiceModule, undefined, 1);
Inject(ModulesContainer)(SluiceModule, undefined, 2);
Module({
  providers: [
    {
      provide: SLUICE_ROOT,
      useFactory: (options?: SluiceModuleOptions) => new SluiceRoot(options),
      inject: [{ token: MODULE_OPTIONS_TOKEN, optional: true }],
    },
    { provide: APP_FILTER, useClass: SluiceExceptionFilter },
    { provide: APP_GUARD, useFactory: (root: SluiceRoot) => new GlobalGuard(root), inject: [SLUICE_ROOT] },
  ],
  exports: [SLUICE_ROOT],
})(SluiceModule);
