import type { Rule } from '../compile/rule.js';
import type { SplitPath } from './path-pattern.js';

interface Node {
  /** The child nodes, by the next fixed segment of the path. */
  readonly next: Map<string, Node>;
  /** The rules whose path is not fixed further, in the order of the document. */
  readonly here: Rule[];
}

const newNode = (): Node => ({ next: new Map(), here: [] });
const NONE: readonly Rule[] = [];

/** Finds the rules whose path can match, by the fixed segments at the start of their patterns. */
export class RuleIndex {
  readonly #root = newNode();
  readonly #positions: ReadonlyMap<Rule, number>;

  /** @param rules all with a match */
  constructor(rules: readonly Rule[]) {
    this.#positions = new Map(rules.map((rule, i) => [rule, i]));
    for (const rule of rules) {
      for (const pattern of rule.matcher!.paths ?? [undefined]) {
        let node = this.#root;
        for (const { literal } of pattern?.segments ?? []) {
          if (literal === undefined) break;
          const next = node.next.get(literal) ?? newNode();
          node.next.set(literal, next);
          node = next;
        }
        if (node.here.at(-1) !== rule) node.here.push(rule);
      }
    }
  }

  /** Returns rules in the order of the document. Creates no array if only one node on the path has rules. */
  candidates({ lower }: SplitPath): readonly Rule[] {
    let found = NONE;
    let several: Rule[] | undefined;
    let node: Node | undefined = this.#root;
    for (let i = 0; node !== undefined; i += 1) {
      if (node.here.length > 0) {
        if (found === NONE) found = node.here;
        else found = several = [...found, ...node.here];
      }
      node = i < lower.length ? node.next.get(lower[i]!) : undefined;
    }
    if (several === undefined) return found;
    const position = (rule: Rule) => this.#positions.get(rule)!;
    return [...new Set(several)].sort((a, b) => position(a) - position(b));
  }
}
