import { RulesError } from '../document/problems.js';
import { readYaml } from '../document/read-yaml.js';
import type { RulesDocument } from '../document/schema.js';
import { parseRules } from '../parse-rules.js';
import { RuleSet } from '../rule-set.js';
import { fingerprintOf, type RulesSource, type SourcedRules } from './rules-source.js';

/** A version that can be activated. */
export interface ReadyVersion {
  readonly set: RuleSet;
  /** The version for callers outside its rollout. */
  readonly before: RuleSet | undefined;
  /** Undefined for the option `fallback`. */
  readonly fingerprint: string | undefined;
}

/** @throws RulesError for a text with problems */
export function readyVersion(source: RulesSource, { text, before }: SourcedRules): ReadyVersion {
  const { file } = source;
  const set = parseRules(text, { file });
  const fingerprint = fingerprintOf(text);
  if ((set.document.rollout?.percent ?? 100) >= 100) return { set, before: undefined, fingerprint };
  if (!source.keepsBefore) throw rolloutError(text, file);
  return { set, before: before === undefined ? undefined : parseRules(before), fingerprint };
}

export function fallbackVersion(fallback: string | RulesDocument | RuleSet): ReadyVersion {
  const set = fallback instanceof RuleSet ? fallback : parseRules(fallback);
  return { set, before: undefined, fingerprint: undefined };
}

function rolloutError(text: string | RulesDocument, file: string | undefined): RulesError {
  const at = typeof text === 'string' ? readYaml(text).report.locate(['rollout'], true) : undefined;
  const message =
    'a rollout needs the version before, which only storedRules(store) keeps: push the document with sluice push, or use percent: 100';
  return new RulesError(
    [{ message, line: at?.line, column: at?.column, path: 'rollout', hint: undefined }],
    file,
  );
}
