import type { Rule } from '../compile/rule.js';
import type { SplitPath } from './path-pattern.js';

interface Node {
  /** By the next segment of their paths, as far as it is fixed. */
  readonly next: Map<string, Node>;
  /** Positions of the rules whose path is not fixed further. */
  readonly here: number[];
}

const newNode = (): Node => ({ next: new Map(), here: [] });

/** Finds the few rules whose path may match, of many: by the fixed segments at the start of their patterns. */
export class RuleIndex {
  readonly #root = newNode();
  readonly #rules: readonly Rule[];

  /** @param rules all with a match */
  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
    for (const [i, { matcher }] of rules.entries()) {
      for (const pattern of matcher!.paths ?? [undefined]) {
        let node = this.#root;
        for (const { literal } of pattern?.segments ?? []) {
          if (literal === undefined) break;
          const next = node.next.get(literal) ?? newNode();
          node.next.set(literal, next);
          node = next;
        }
        if (node.here.at(-1) !== i) node.here.push(i);
      }
    }
  }

  /** In the order of the document. */
  candidates({ lower }: SplitPath): readonly Rule[] {
    const found: number[] = [];
    let node: Node | undefined = this.#root;
    for (let i = 0; node !== undefined; i += 1) {
      found.push(...node.here);
      node = i < lower.length ? node.next.get(lower[i]!) : undefined;
    }
    const inOrder = found.length > 1 ? [...new Set(found)].sort((a, b) => a - b) : found;
    return inOrder.map((i) => this.#rules[i]!);
  }
}
