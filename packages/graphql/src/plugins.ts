import { isPromise } from '@sluice/core/internal';
import type { DocumentNode, ExecutionResult, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import type { Admission, GraphqlOperation } from './admission.js';
import { overHttp } from './answers.js';

/** What plugins need of a limit on costs. */
interface OperationLimit<Context> {
  check(schema: GraphQLSchema): void;
  admit(operation: GraphqlOperation<Context>): Promise<Admission>;
}

interface Starting {
  // biome-ignore lint/suspicious/noExplicitAny: versions of Envelop differ in the types of arguments
  readonly args: any;
  setResultAndStopExecution(result: ExecutionResult): void;
}

// biome-ignore lint/suspicious/noExplicitAny: versions of Envelop differ in the types of arguments
type Execute = (...args: any[]) => unknown;

interface StartingExecution extends Starting {
  readonly executeFn: Execute;
  setExecuteFn(execute: Execute): void;
}

/** A plugin of Envelop, and so of GraphQL Yoga. */
export interface EnvelopPlugin {
  onPluginInit(init: { readonly plugins: unknown[] }): void;
  onSchemaChange(change: { readonly schema: GraphQLSchema }): void;
  onExecute(
    starting: StartingExecution,
  ): Promise<
    | { onExecuteDone(done: { readonly result: unknown; setResult(result: ExecutionResult): void }): void }
    | undefined
  >;
  onSubscribe(starting: Starting): Promise<undefined>;
}

export function envelopPlugin<Context>(limit: OperationLimit<Context>): EnvelopPlugin {
  const start = async ({ args, setResultAndStopExecution }: Starting): Promise<Admission | undefined> => {
    const admission = await limit.admit(args as GraphqlOperation<Context>);
    const { denied } = admission;
    if (denied === undefined) return admission;
    // Yoga has the request in its context, but not for operations over a WebSocket.
    const isOverHttp = typeof args.contextValue?.request?.method === 'string';
    const errors = denied.errors!.map((error) => (isOverHttp ? overHttp(error, Object.fromEntries) : error));
    setResultAndStopExecution({ ...denied, errors });
    return undefined;
  };
  const onPluginInit: EnvelopPlugin['onPluginInit'] = ({ plugins }) => {
    const isOwn = (plugin: unknown) => (plugin as Partial<EnvelopPlugin>).onPluginInit === onPluginInit;
    const place = plugins.findIndex(isOwn);
    if (place === -1) return; // wrapped by another plugin, which keeps its place
    // Envelop does not say that a later plugin has stopped an operation or thrown: the last plugin has no later one.
    // Envelop reads the list by index meanwhile, so each other plugin keeps its place.
    const { onPluginInit: _, ...last } = plugins[place] as EnvelopPlugin;
    plugins[place] = {};
    plugins.push(last);
  };
  return {
    onPluginInit,
    onSchemaChange: ({ schema }) => limit.check(schema),
    async onExecute(starting) {
      const admission = await start(starting);
      if (admission === undefined) return undefined;
      const { executeFn, setExecuteFn } = starting;
      const failed = (error: unknown): never => {
        admission.keep();
        throw error;
      };
      // Envelop calls `onExecuteDone` for a result only.
      setExecuteFn((...args: readonly unknown[]) => {
        try {
          const result = executeFn(...args);
          return isPromise(result) ? result.catch(failed) : result;
        } catch (error) {
          return failed(error);
        }
      });
      return {
        onExecuteDone({ result, setResult }) {
          if (Symbol.asyncIterator in (result as object)) admission.keep();
          else setResult(admission.finish(result as ExecutionResult));
        },
      };
    },
    async onSubscribe(starting) {
      const admission = await start(starting);
      admission?.keep();
      return undefined;
    },
  };
}

interface Resolved<Context> {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation?: OperationDefinitionNode | undefined;
  readonly request: { readonly variables?: Record<string, unknown> };
  readonly contextValue: Context;
}

/** A plugin of Apollo Server. */
export interface ApolloPlugin<Context> {
  serverWillStart(): Promise<{ schemaDidLoadOrUpdate(loaded: { readonly apiSchema: GraphQLSchema }): void }>;
  requestDidStart(): Promise<{
    didResolveOperation(resolved: Resolved<Context>): Promise<void>;
    executionDidStart(): Promise<void>;
    willSendResponse(sent: {
      readonly response: { readonly body: { kind: string; singleResult?: unknown } };
    }): Promise<void>;
  }>;
}

export const apolloPlugin = <Context>(limit: OperationLimit<Context>): ApolloPlugin<Context> => ({
  serverWillStart: async () => ({ schemaDidLoadOrUpdate: ({ apiSchema }) => limit.check(apiSchema) }),
  async requestDidStart() {
    let admitting: Promise<Admission> | undefined;
    let runs = false;
    return {
      async didResolveOperation({ schema, document, operation, request, contextValue }) {
        const called = { operationName: operation?.name?.value, variableValues: request.variables };
        admitting = limit.admit({ schema, document, contextValue, ...called });
        const error = (await admitting).denied?.errors?.[0];
        if (error !== undefined) throw overHttp(error, (entries) => new Map(entries));
      },
      async executionDidStart() {
        runs = true;
      },
      async willSendResponse({ response: { body } }) {
        // Another plugin may have refused the operation before it was admitted.
        const admission = await admitting?.catch(() => undefined);
        if (admission === undefined) return;
        if (body.kind !== 'single') {
          admission.keep();
          return;
        }
        const result = body.singleResult as ExecutionResult;
        if (runs) body.singleResult = admission.finish(result);
        else if (admission.denied === undefined) admission.cancel();
        else
          body.singleResult = {
            ...result,
            extensions: { ...result.extensions, ...admission.denied.extensions },
          };
      },
    };
  },
});
