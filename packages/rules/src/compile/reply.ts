import { describe } from '@sluice/core/internal';
import type { RuleReply } from '@sluice/http';
import type { Path, Report } from '../document/problems.js';
import type { ReplyInput } from '../document/schema.js';

/** A token of RFC 9110. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** A value without line breaks, which would start another header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that the server sets from the body. */
const OF_THE_SERVER = ['content-length', 'transfer-encoding', 'connection', 'trailer', 'upgrade'];

/** The reply of a rule; reports headers that a response cannot have. */
export function compileReply(
  input: ReplyInput | undefined,
  path: Path,
  report: Report,
): RuleReply | undefined {
  if (input === undefined) return undefined;
  const headers = Object.entries(input.headers ?? {}).map(([name, value]) => [name, String(value)] as const);
  for (const [name, value] of headers) {
    const at = [...path, 'reply', 'headers', name];
    if (!HEADER_NAME.test(name))
      report.add(at, `${describe(name)} is not the name of a header`, { atKey: true });
    if (!HEADER_VALUE.test(value)) {
      report.add(at, `the value of header ${describe(name)} has a character that headers cannot have`);
    }
    if (OF_THE_SERVER.includes(name.toLowerCase())) {
      report.add(at, `header ${describe(name)} is set by the server: leave it out`, { atKey: true });
    }
  }
  return { ...input, headers: input.headers && Object.fromEntries(headers) } as RuleReply;
}
