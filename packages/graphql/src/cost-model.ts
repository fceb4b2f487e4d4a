import { describe } from '@sluice/core/internal';
import {
  type DirectiveNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  valueFromASTUntyped,
} from 'graphql';
import {
  type checkCostLimitOptions,
  checkListSize,
  checkNumber,
  type ListSize,
} from './cost-limit-options.js';

type Args = Readonly<Record<string, unknown>>;
type Field = GraphQLField<unknown, unknown>;
type Costs = Pick<ReturnType<typeof checkCostLimitOptions<unknown>>, 'costs' | 'listSizes' | 'defaults'>;

/** What a field costs. */
export interface FieldModel {
  /** Of a call of its resolver. */
  call(args: Args): number;
  /** Of each object or leaf that it returns. */
  readonly each: number;
  readonly isList: boolean;
  readonly sizedFields: readonly string[];
  /**
   * The items of a call; undefined: nothing says how many.
   * @param mayLack of a field of an interface, which may not have all arguments of its types: refuses nothing
   * @throws GraphQLError for arguments that the field refuses
   */
  size(args: Args, mayLack?: boolean): number | undefined;
}

/** Without a directive these arguments say how long a list is, or which lists a connection has. */
const SLICING = ['first', 'last', 'limit'];
const SIZED = ['edges', 'nodes'];

/** The costs of a schema's fields: of the options, of its directives, and of the defaults. */
export class CostModel {
  /** The names in any `sizedFields`. */
  readonly sizedNames = new Set<string>(SIZED);
  readonly #fields = new Map<Field, FieldModel>();

  /** @throws TypeError, RangeError naming the type or field whose cost is invalid */
  constructor(
    readonly schema: GraphQLSchema,
    readonly costs: Costs,
  ) {
    const unknown = new Set([...costs.costs.keys(), ...costs.listSizes.keys()]);
    for (const type of Object.values(schema.getTypeMap())) {
      unknown.delete(type.name);
      if (isInputObjectType(type)) Object.values(type.getFields()).forEach(refuseInputCost);
      if (type.name.startsWith('__') || !(isObjectType(type) || isInterfaceType(type))) continue;
      for (const field of Object.values(type.getFields())) {
        unknown.delete(`${type.name}.${field.name}`);
        this.#fields.set(field, this.#modelOf(type, field));
      }
    }
    for (const name of unknown) throw new TypeError(`costLimit: the schema has no type or field '${name}'`);
  }

  /** @returns undefined for introspection */
  of(field: Field | undefined): FieldModel | undefined {
    return field && this.#fields.get(field);
  }

  #modelOf(parent: GraphQLNamedType, field: Field): FieldModel {
    const name = `${parent.name}.${field.name}`;
    const type = getNamedType(field.type);
    const isList = isListType(getNullableType(field.type));
    const given = this.costs.costs.get(name) ?? weightOf(name, field);
    const weight = given ?? this.#usualCall(parent, type);
    const argWeights = field.args.map(
      (arg) => [arg.name, weightOf(`${name}(${arg.name}:)`, arg) ?? 0] as const,
    );
    const ownCall = (args: Args) => {
      const own = typeof weight === 'number' ? weight : checkNumber(`The cost of ${name}`, weight(args));
      return argWeights.reduce((sum, [arg, more]) => (args[arg] == null ? sum : sum + more), own);
    };
    const ownSize = this.costs.listSizes.get(name) ?? listSizeOf(name, field);
    const listSize = ownSize ?? usualSize(field, isList);
    const { assumedSize, requireOneSlicingArgument } = listSize;
    const slicing = listSize.slicingArguments ?? [];
    const missing = slicing.find((slice) => !field.args.some((arg) => arg.name === slice));
    if (missing !== undefined)
      throw new TypeError(`costLimit: ${name} has no argument '${missing}', which its slicingArguments name`);
    const sizedFields = listSize.sizedFields ?? [];
    for (const sized of sizedFields) this.sizedNames.add(sized);
    const usual = assumedSize ?? this.costs.defaults.listSize;
    const one = requireOneSlicingArgument !== false && slicing.length > 0;
    const says = (args: Args, mayLack = false) =>
      sizeOf(name, slicing, one && !mayLack, args, usual) ?? assumedSize ?? undefined;
    const model = { each: this.#each(type), isList, sizedFields };
    if (!isInterfaceType(parent)) return { ...model, call: ownCall, size: says };
    return {
      ...model,
      call: this.#implementedCall(parent, field, ownCall),
      size: this.#implementedSize(parent, field, ownSize && says),
    };
  }

  /**
   * A field of an interface costs what it costs of the most expensive type. Their models are made by the time of a call.
   * @param own of the interface's own field, whose types may cost more
   */
  #implementedCall(
    parent: GraphQLInterfaceType,
    { name }: Field,
    own: FieldModel['call'],
  ): FieldModel['call'] {
    const fields = this.schema.getPossibleTypes(parent).map((type) => type.getFields()[name]);
    return (args) => Math.max(own(args), ...fields.map((field) => this.of(field)?.call(args) ?? 0));
  }

  /**
   * A list of an interface is as long as the longest list of its types.
   * @param own what the interface's own field says, also for types that say nothing; undefined if it says nothing
   */
  #implementedSize(
    parent: GraphQLInterfaceType,
    { name }: Field,
    own: FieldModel['size'] | undefined,
  ): FieldModel['size'] {
    const fields = this.schema.getPossibleTypes(parent).map((type) => type.getFields()[name]);
    const { listSize } = this.costs.defaults;
    return (args, mayLack) => {
      const ownSize = own?.(args, mayLack);
      const sizes = fields.map((field) => this.of(field)?.size(args, true));
      // Without any size the field above may say it.
      if (sizes.every((size) => size === undefined)) return ownSize;
      return Math.max(ownSize ?? 0, ...sizes.map((size) => size ?? ownSize ?? listSize));
    };
  }

  #usualCall(parent: GraphQLNamedType, type: GraphQLNamedType): number {
    const { object, mutation } = this.costs.defaults;
    if (parent === this.schema.getMutationType()) return mutation;
    const isRoot = parent === this.schema.getQueryType() || parent === this.schema.getSubscriptionType();
    return isRoot && isLeafType(type) ? object : 0;
  }

  #each(type: GraphQLNamedType): number {
    const { costs, defaults } = this.costs;
    const own = costs.get(type.name) ?? weightOf(type.name, type);
    if (typeof own === 'function') throw new TypeError(`costLimit: costs['${type.name}'] must be a number`);
    if (own !== undefined || !isAbstractType(type))
      return own ?? defaults[isLeafType(type) ? 'leaf' : 'object'];
    return Math.max(0, ...this.schema.getPossibleTypes(type).map((one) => this.#each(one)));
  }
}

function usualSize(field: Field, isList: boolean): ListSize {
  if (isLeafType(getNullableType(field.type))) return {};
  const slicingArguments = SLICING.filter((name) => field.args.some((arg) => arg.name === name));
  return { slicingArguments, requireOneSlicingArgument: false, ...(!isList && { sizedFields: SIZED }) };
}

/**
 * The largest size that the arguments say. A size that is no number ≥ 0 says nothing.
 * @param usual the size of a resolver that ignores such an argument
 */
function sizeOf(
  name: string,
  slicing: readonly string[],
  one: boolean,
  args: Args,
  usual: number,
): number | undefined {
  const given = slicing.map((arg) => args[arg]).filter((value) => value != null);
  if (one && given.length !== 1) {
    const extensions = { code: 'BAD_USER_INPUT' };
    throw new GraphQLError(`${name} takes exactly one of the arguments ${slicing.join(', ')}`, {
      extensions,
    });
  }
  const sizes = given.map((value) => Number(Array.isArray(value) ? value.length : value));
  // Of a fraction, which a Float may be, a resolver may take the next number.
  const valid = sizes.filter((size) => Number.isFinite(size) && size >= 0).map(Math.ceil);
  if (valid.length === 0) return undefined;
  // A resolver may read 0 as its default, as in `first || 50`, and an operation without a cost would never be corrected.
  return Math.max(1, ...valid, valid.length < sizes.length ? usual : 0);
}

interface Declared {
  readonly name: string;
  readonly astNode?: { readonly directives?: readonly DirectiveNode[] | undefined } | null | undefined;
  readonly extensionASTNodes?: readonly { readonly directives?: readonly DirectiveNode[] | undefined }[];
}

/** The arguments of a directive in the schema's text. */
function directiveOf({ astNode, extensionASTNodes = [] }: Declared, name: string): Args | undefined {
  const all = [astNode, ...extensionASTNodes].flatMap((node) => node?.directives ?? []);
  const found = all.find((directive) => directive.name.value === name);
  return (
    found &&
    Object.fromEntries(found.arguments!.map((arg) => [arg.name.value, valueFromASTUntyped(arg.value)]))
  );
}

/** @throws RangeError naming the place */
function weightOf(where: string, declared: Declared): number | undefined {
  const given = directiveOf(declared, 'cost')?.weight;
  if (given === undefined) return undefined;
  // Texts in the specification, numbers in Apollo's.
  const weight = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
  return checkNumber(`@cost of ${where}: weight ${describe(given)}`, weight);
}

function listSizeOf(name: string, field: Declared): ListSize | undefined {
  const given = directiveOf(field, 'listSize');
  return given && checkListSize(`@listSize of ${name}`, given);
}

/** @throws TypeError: such a cost would not count */
function refuseInputCost(field: Declared): void {
  if (directiveOf(field, 'cost') === undefined) return;
  throw new TypeError(
    `@cost of the input field '${field.name}' would not count: give the argument a cost, or pass a function in costs`,
  );
}
