import { compileKey, isKeyList } from '@sluice/core/internal';
import { hasTemplate, scopeOf } from '../compile/templates.js';
import type { RuleInput } from '../document/schema.js';
import type { ConditionInput } from '../document/schema-match.js';
import type { RuleSet } from '../rule-set.js';
import type { LogRequest } from './log/log-request.js';

interface Value {
  /** The value as a key expression: `#{user.plan}`. */
  readonly source: string;
  isPresent(request: LogRequest): boolean;
}

/** Assumptions of a replay about values that the log lacks. */
export class Assumptions {
  /** The values that rules read and that no line has contained so far. */
  readonly #missing: Map<string, Value>;
  #status = false;

  constructor(readonly set: RuleSet) {
    const sources = new Set((set.document.rules ?? []).flatMap((rule) => this.#valuesOf(rule)));
    this.#missing = new Map([...sources].map((source) => [source, readerOf(source)]));
  }

  see(request: LogRequest): void {
    this.#status ||= request.status !== undefined;
    for (const [source, value] of this.#missing) if (value.isPresent(request)) this.#missing.delete(source);
  }

  /** The assumptions as sentences without a full stop. */
  ofRule(name: string): string[] {
    const input = (this.set.document.rules ?? []).find((rule) => rule.name === name)!;
    const missing = this.#valuesOf(input).filter((source) => this.#missing.has(source));
    const sentences =
      missing.length === 0
        ? []
        : [`no line of the log has ${missing.join(', ')}, so every request was decided as one without it`];
    const rule = this.set.rule(name)!;
    if (rule.refunds && !this.#status) {
      sentences.push('no line of the log has a status, so no permits were given back');
    }
    if (rule.timeout !== undefined)
      sentences.push('requests do not wait in a replay: they were denied at once');
    return sentences;
  }

  /** The values that a rule reads, and whose absence is not an error. */
  #valuesOf(input: RuleInput): string[] {
    const { compare } = input;
    const base = this.set.document.rules?.find((rule) => rule.name === compare);
    const { match, key, plan } = { ...base, ...input };
    const keys = isKeyList(key) ? key.slice(0, -1).map((one) => (one === 'USER' ? '#{user.id}' : one)) : [];
    const plans = plan !== undefined && hasTemplate(plan) ? [plan] : [];
    const matched = [match ?? {}, match?.not ?? []].flat().flatMap(matchedValues);
    return [...new Set([...matched, ...keys, ...plans])];
  }
}

function matchedValues({ user, header, host }: ConditionInput): string[] {
  const fields = typeof user === 'object' && !Array.isArray(user) ? Object.keys(user) : undefined;
  const users = user === undefined ? [] : (fields ?? ['id']).map((name) => expression('user', name));
  const headers = Object.keys(header ?? {}).map((name) => expression('headers', name.toLowerCase()));
  return [...users, ...headers, ...(host === undefined ? [] : ['#{headers.host}'])];
}

const expression = (root: string, name: string): string =>
  /^[A-Za-z_][\w-]*$/.test(name) ? `#{${root}.${name}}` : `#{${root}['${name.replaceAll("'", '')}']}`;

function readerOf(source: string): Value {
  const template = compileKey(source);
  return { source, isPresent: (request) => template.isPresent(scopeOf(request)) };
}
