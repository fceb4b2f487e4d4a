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

/** A plugin of Envelop, and so of GraphQL Yoga. */
export interface EnvelopPlugin {
  onSchemaChange(change: { readonly schema: GraphQLSchema }): void;
  onExecute(
    starting: Starting,
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
  return {
    onSchemaChange: ({ schema }) => limit.check(schema),
    async onExecute(starting) {
      const admission = await start(starting);
      if (admission === undefined) return undefined;
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
    let admission: Admission | undefined;
    let runs = false;
    return {
      async didResolveOperation({ schema, document, operation, request, contextValue }) {
        const called = { operationName: operation?.name?.value, variableValues: request.variables };
        admission = await limit.admit({ schema, document, contextValue, ...called });
        const error = admission.denied?.errors?.[0];
        if (error !== undefined) throw overHttp(error, (entries) => new Map(entries));
      },
      async executionDidStart() {
        runs = true;
      },
      async willSendResponse({ response: { body } }) {
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
