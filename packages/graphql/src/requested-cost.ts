import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLNamedType,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';
import type { CostModel } from './cost-model.js';

/** Selections and fragments within each other. An operation that a person wrote has less than 30. */
const MOST_LEVELS = 200;
/** Larger costs are counted as this: no limit has so much. */
const MOST = Number.MAX_SAFE_INTEGER;

/** @param item of each item of the lists whose size a field above says @param rest of everything else */
interface SetCost {
  readonly rest: number;
  readonly item: number;
  readonly levels: number;
}

/** A selection set, and the type on which it selects. */
export type Selected = readonly [set: SelectionSetNode, parent: GraphQLNamedType];

/** The cost of an operation before it runs. Each selection set is read once, however often fragments refer to it. */
export class RequestedCost {
  /** Of the calls of resolvers, with their arguments. Introspection: the whole cost of a field. */
  readonly calls = new Map<FieldNode, number>();
  readonly #sets = new Map<SelectionSetNode, SetCost>();

  constructor(
    readonly model: CostModel,
    private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>,
    private readonly variables: { readonly [name: string]: unknown },
  ) {}

  /** @throws GraphQLError if selections nest too deep, as in a circle of fragments, or for arguments that a field refuses */
  of(root: Selected): number {
    return this.#total(this.#setCost(root, 1));
  }

  /** What a node selects; undefined if nothing. */
  selected(node: SelectionNode, parent: GraphQLNamedType): Selected | undefined {
    if (node.kind === Kind.FIELD) {
      const type = this.fieldOf(node, parent)?.type;
      return node.selectionSet && type && [node.selectionSet, getNamedType(type)];
    }
    const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : this.fragments.get(node.name.value);
    const condition = fragment?.typeCondition?.name.value;
    const type = condition === undefined ? parent : this.model.schema.getType(condition);
    return fragment && type && [fragment.selectionSet, type];
  }

  fieldOf({ name }: FieldNode, parent: GraphQLNamedType): GraphQLField<unknown, unknown> | undefined {
    if (name.value === '__schema') return SchemaMetaFieldDef;
    if (name.value === '__type') return TypeMetaFieldDef;
    return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name.value] : undefined;
  }

  #setCost([set, parent]: Selected, level: number): SetCost {
    const known = this.#sets.get(set);
    if (known !== undefined) return known;
    if (level > MOST_LEVELS) throw tooDeep();
    let [rest, item, levels] = [0, 0, 0];
    /** By type: an object has the fields of one. */
    const byType = new Map<GraphQLNamedType, number>();
    for (const node of set.selections) {
      if (this.isSkipped(node)) continue;
      const selected = this.selected(node, parent);
      const below = selected && this.#setCost(selected, level + 1);
      levels = Math.max(levels, below?.levels ?? 0);
      const cost = node.kind === Kind.FIELD ? this.#fieldCost(node, parent, below) : (below ?? NOTHING);
      item = Math.min(MOST, item + cost.item);
      const type = selected?.[1];
      if (node.kind !== Kind.FIELD && isAbstractType(parent) && isObjectType(type))
        byType.set(type, (byType.get(type) ?? 0) + cost.rest);
      else rest += cost.rest;
    }
    // Also of sets that were read before, at a smaller level.
    if (levels >= MOST_LEVELS) throw tooDeep();
    let largest = 0;
    for (const cost of byType.values()) largest = Math.max(largest, cost);
    const cost = { rest: Math.min(MOST, rest + largest), item, levels: levels + 1 };
    this.#sets.set(set, cost);
    return cost;
  }

  #fieldCost(node: FieldNode, parent: GraphQLNamedType, below: SetCost = NOTHING): SetCost {
    const { costs, sizedNames } = this.model;
    const { object, leaf, listSize } = costs.defaults;
    const field = this.fieldOf(node, parent);
    const found = this.model.of(field);
    if (field === undefined || found === undefined) {
      // Introspection: its lists are as long as the schema is large.
      const rest = (node.selectionSet ? object : leaf) + below.rest;
      if (node.selectionSet) this.calls.set(node, rest);
      return { ...NOTHING, rest };
    }
    const args = field.args.length === 0 ? {} : getArgumentValues(field, node, this.variables);
    const call = found.call(args);
    if (call > 0) this.calls.set(node, call);
    const size = found.size(args);
    const isSizing = found.sizedFields.length > 0;
    const each = Math.min(MOST, found.each + this.#total(below, isSizing ? size : undefined));
    if (!found.isList) return { ...NOTHING, rest: call + each };
    const own = isSizing ? undefined : size;
    if (own === undefined && sizedNames.has(node.name.value)) return { ...NOTHING, rest: call, item: each };
    return { ...NOTHING, rest: call + Math.min(MOST, (own ?? listSize) * each) };
  }

  #total({ rest, item }: SetCost, size = this.model.costs.defaults.listSize): number {
    return Math.min(MOST, rest + size * item);
  }

  /** By `@skip` or `@include`. */
  isSkipped({ directives }: SelectionNode): boolean {
    if (directives === undefined || directives.length === 0) return false;
    const conditionOf = (directive: typeof GraphQLSkipDirective) =>
      getDirectiveValues(directive, { directives }, this.variables)?.if;
    return conditionOf(GraphQLSkipDirective) === true || conditionOf(GraphQLIncludeDirective) === false;
  }
}

const NOTHING: SetCost = { rest: 0, item: 0, levels: 0 };

const tooDeep = (): GraphQLError =>
  new GraphQLError(`Selections nest more than ${MOST_LEVELS} levels`, { extensions: { code: 'TOO_DEEP' } });
