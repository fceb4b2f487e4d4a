import { isRateLimitExceededError, isStoreUnavailableError } from '@sluice/core';
import {
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  Kind,
} from 'graphql';
import { actualCost } from './actual-cost.js';
import { type Admission, admissionOf, type GraphqlOperation } from './admission.js';
import { denial } from './answers.js';
import { type CostLimitOptions, checkCostLimitOptions } from './cost-limit-options.js';
import { CostModel } from './cost-model.js';
import { type ApolloPlugin, apolloPlugin, type EnvelopPlugin, envelopPlugin } from './plugins.js';
import { RequestedCost, type Selected } from './requested-cost.js';

const UNCOUNTED: Admission = { finish: (result) => result, keep: () => {}, cancel: () => {} };

/** A limit on the cost of operations. */
export class CostLimit<Context> {
  /** A plugin for GraphQL Yoga, and for any server with Envelop. */
  readonly envelop: EnvelopPlugin = envelopPlugin(this);
  /** A plugin for Apollo Server. */
  readonly apollo: ApolloPlugin<Context> = apolloPlugin(this);
  readonly #options: ReturnType<typeof checkCostLimitOptions<Context>>;
  readonly #models = new WeakMap<GraphQLSchema, CostModel>();

  /** @internal */
  constructor(options: CostLimitOptions<Context>) {
    this.#options = checkCostLimitOptions(options);
  }

  /**
   * Reads the costs of a schema. The plugins do it when the server starts.
   * @throws TypeError, RangeError naming the type or field whose cost is invalid
   */
  check(schema: GraphQLSchema): void {
    this.#modelOf(schema);
  }

  /**
   * Takes the cost of an operation before it runs, for servers without a plugin.
   * @throws what `key` and the limiter throw, except for denials
   */
  async admit(operation: GraphqlOperation<Context>): Promise<Admission> {
    let counted: ReturnType<CostLimit<Context>['cost']>;
    try {
      counted = this.cost(operation);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      return { ...UNCOUNTED, denied: { errors: [error] } };
    }
    // The execution refuses it, or it is free.
    if (counted === undefined || counted.cost === 0) return UNCOUNTED;
    const { key, limiterOf } = this.#options;
    const { contextValue } = operation;
    const whose = await key(contextValue);
    try {
      const reservation = await limiterOf(contextValue).reserve(whose, counted.cost);
      return admissionOf(reservation, counted.actual);
    } catch (error) {
      const known = isRateLimitExceededError(error) || isStoreUnavailableError(error);
      if (!known || error.decision === undefined) throw error;
      return { ...UNCOUNTED, denied: denial(error.decision) };
    }
  }

  /**
   * The cost of an operation, which takes nothing.
   * @returns undefined if the execution refuses it: variables that do not fit, or no such operation
   * @throws GraphQLError if selections nest too deep, or for arguments that a field refuses
   */
  cost(operation: Omit<GraphqlOperation<Context>, 'contextValue'>) {
    const { schema, document, operationName, variableValues } = operation;
    const node = getOperationAST(document, operationName);
    const type = node && schema.getRootType(node.operation);
    if (!node || !type) return undefined;
    const definitions = node.variableDefinitions ?? [];
    // One error is enough. The execution has such a bound, too: a list of a million wrong values would be a million errors.
    const { coerced } = getVariableValues(schema, definitions, variableValues ?? {}, { maxErrors: 1 });
    if (coerced === undefined) return undefined;
    const fragments = new Map<string, FragmentDefinitionNode>();
    for (const one of document.definitions)
      if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one);
    const requested = new RequestedCost(this.#modelOf(schema), fragments, coerced);
    const root: Selected = [node.selectionSet, type];
    const cost = rounded(requested.of(root));
    return { cost, actual: (data: unknown) => rounded(actualCost(requested, root, data)) };
  }

  #modelOf(schema: GraphQLSchema): CostModel {
    const model = this.#models.get(schema) ?? new CostModel(schema, this.#options);
    this.#models.set(schema, model);
    return model;
  }
}

/** An operation that is not free costs at least 1. */
const rounded = (cost: number): number => (cost === 0 ? 0 : Math.max(1, Math.round(cost)));

/**
 * Limits the cost of GraphQL operations: taken before they run, corrected by what they returned.
 * @throws TypeError, RangeError naming the invalid option
 */
export const costLimit = <Context>(options: CostLimitOptions<Context>): CostLimit<Context> =>
  new CostLimit(options);
