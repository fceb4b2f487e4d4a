import { describe } from '@sluice/core/internal';
import { pathOf } from '@sluice/http';
import { compileGlob } from './glob.js';

/** Values of `:name` segments. */
export type Params = Readonly<Record<string, string>>;

/** A path, split once for all patterns. */
export class SplitPath {
  readonly segments: readonly string[];
  readonly lower: readonly string[];

  /** @param path normalized by `pathOf` */
  constructor(path: string) {
    this.segments = path === '/' ? [] : path.slice(1).split('/');
    const lower = path.toLowerCase();
    this.lower = lower === path ? this.segments : lower.slice(1).split('/');
  }
}

interface Segment {
  /** In lower case, if it is the same in every path. */
  readonly literal?: string;
  /** The name of a `:name` segment. */
  readonly param?: string;
  matches(segment: string): boolean;
}

export interface PathPattern {
  readonly segments: readonly Segment[];
  /** Does it end with `/*`? */
  readonly rest: boolean;
  /** @returns the values of its `:name` segments, or undefined if the path does not match */
  match(path: SplitPath): Params | undefined;
}

const PARAM = /^:([A-Za-z_]\w{0,49})$/;
const NO_PARAMS: Params = {};
const MOST_SEGMENTS = 64;

/**
 * Compiles a path pattern. It matches segment by segment, in time linear in the path, and ignores case: if the router ignores case, another
 * spelling must not evade a limit.
 * @throws RangeError naming the remedy
 */
export function compilePath(pattern: string): PathPattern {
  const fail = (why: string) => new RangeError(`path pattern ${describe(pattern)} ${why}`);
  if (!pattern.startsWith('/')) throw fail("must begin with '/'");
  if (/[?#]/.test(pattern)) throw fail("has no '?' or '#': a pattern is matched with the path alone");
  const names = pathOf(pattern)
    .slice(1)
    .split('/')
    .filter((segment) => segment !== '');
  if (names.length > MOST_SEGMENTS) throw fail(`has more than ${MOST_SEGMENTS} segments`);
  const rest = names.at(-1) === '*';
  if (rest) names.pop();
  if (names.some((name) => name.includes('**')))
    throw fail("has '**': write /* at the end for the rest of a path");
  const segments = names.map((name): Segment => {
    const lower = name.toLowerCase();
    if (!name.startsWith(':')) {
      return { ...(lower.includes('*') ? {} : { literal: lower }), matches: compileGlob(lower) };
    }
    const param = PARAM.exec(name)?.[1];
    if (param === undefined)
      throw fail(`has ${describe(name)}: a whole segment is :name, of letters, digits and _`);
    return { param, matches: () => true };
  });
  const params = segments.flatMap(({ param }, i) => (param === undefined ? [] : [[param, i] as const]));
  if (new Set(params.map(([name]) => name)).size < params.length) throw fail('has one :name twice');
  const { length } = segments;
  return {
    segments,
    rest,
    match({ segments: given, lower }) {
      if (rest ? given.length < length : given.length !== length) return undefined;
      for (let i = 0; i < length; i++) if (!segments[i]!.matches(lower[i]!)) return undefined;
      if (params.length === 0) return NO_PARAMS;
      return Object.fromEntries(params.map(([name, i]) => [name, given[i]!]));
    },
  };
}
