import { frameworks } from '../scripts/packages.mjs';

// What packages are for, and the names of each. Each task is a page of the API reference; a package without tasks is one page.
// The first pattern that matches the path of a source file below packages/<name>/src/ counts.

/** The packages by what they are for. */
export const PACKAGES = [
  ['Limits', ['core', 'decorators', 'rules']],
  ['Frameworks', frameworks()],
  ['Stores', ['sqlite', 'postgres', 'upstash']],
  ['Under other limiters', ['stores']],
  ['Calls to other services', ['outgoing']],
  ['Budgets of tokens and dollars', ['meter']],
  ['Tools of MCP servers', ['mcp']],
  ['Costs of GraphQL operations', ['graphql']],
  ['Watching', ['dashboard', 'otel', 'cli']],
  ['Programs in other languages', ['serve']],
  ['For authors of adapters, stores and tools', ['http', 'entries', 'fleet']],
];

/** @type {Readonly<Record<string, readonly (readonly [page: string, title: string, files: RegExp])[]>>} */
export const TASKS = {
  core: [
    ['extending', 'Write a store', /^(?:call\/|stores\/store\.|algorithms\/algorithm\.)/],
    ['shared-rates', 'Change a rate for all processes', /^(?:shared-limiter\/|stores\/shared-rate\.)/],
    ['watching', 'Watch limits', /^(?:telemetry|board|health|warnings\.|limiter\/observer\.)/],
    ['decisions', 'Read decisions and errors', /^(?:decision|errors)\./],
    ['policies', 'Choose how much is allowed', /^(?:algorithms\/|duration\.)/],
    ['stores', 'Choose where counts are kept', /^stores\//],
    ['keys', 'Make keys', /^keys\//],
    ['testing', 'Control the time in tests', /^clock\./],
    ['limiters', 'Limit calls', /^limiter\//],
  ],
  http: [
    ['answers', 'Answer denials and errors', /^(?:headers\/|problem|reply)/],
    ['keys', 'Make keys of requests', /^(?:body-keys|key-|limiter-source|request-key|skipped-names)/],
    ['requests', 'Read requests and responses', /^(?:request-context|request-path|views)/],
    ['rules', 'Apply rules to requests', /^(?:address-list|request-rules|rules-source)/],
    ['limits', 'Limit requests', /./],
  ],
  fleet: [
    ['denials', 'Read denials of all processes', /^denials\//],
    ['keys', 'Inspect one key', /^inspect\//],
    ['usage', 'Count what limits do', /^usage\//],
    ['definitions', 'List the limits of all processes', /./],
  ],
  rules: [
    ['testing', 'Test rules', /^testing\//],
    ['sources', 'Load and change rules', /^sources\//],
    ['deciding', 'Decide by rules', /^(?:live|compile|matching)\/|^rule-set/],
    ['documents', 'Write rules', /./],
  ],
};

/** The order in which the tasks of a package are listed. Others follow. */
const FIRST = ['limiters', 'limits', 'documents', 'policies', 'stores', 'decisions', 'keys', 'deciding'];
/** For authors of stores. */
const LAST = 'extending';

/** @param {string} page the name of a task's page */
export function orderOf(page) {
  if (page === LAST) return 99;
  const at = FIRST.indexOf(page);
  return at < 0 ? FIRST.length + 1 : at + 1;
}
