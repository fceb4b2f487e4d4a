/** A member of a list or dictionary of RFC 9651, as far as rate limit headers use them. */
export interface Member {
  /** The key of a dictionary's member; undefined in a list. */
  readonly key: string | undefined;
  /** A string, a token, a number as text, or the base64 of a byte sequence. */
  readonly value: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Members of one header that are read. */
const MOST = 20;

const VALUE = String.raw`"((?:[^"\\]|\\["\\])*)"|:([A-Za-z0-9+/=]*):|([-\w.*:/%?]+)`;
const NAME = String.raw`[a-zA-Z*][\w.*-]*`;
const START = new RegExp(String.raw`[ \t]*(?:(${NAME})[ \t]*=[ \t]*)?(?:${VALUE})`, 'y');
const PARAMETER = new RegExp(String.raw`[ \t]*;[ \t]*(${NAME})(?:=(?:${VALUE}))?`, 'y');
const COMMA = /[ \t]*(?:,|$)/y;

const unquoted = (quoted: string | undefined, bytes: string | undefined, bare: string | undefined): string =>
  quoted?.replace(/\\(.)/g, '$1') ?? bytes ?? bare ?? '';

/** The members of a header up to the first that is none: a damaged rest is not read. */
export function membersOf(text: string): readonly Member[] {
  const members: Member[] = [];
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at = pattern.lastIndex;
    return found ?? undefined;
  };
  while (members.length < MOST && at < text.length) {
    const start = match(START);
    if (start === undefined) break;
    const [, key, quoted, bytes, bare] = start;
    const parameters = new Map<string, string>();
    for (let next = match(PARAMETER); next !== undefined; next = match(PARAMETER)) {
      parameters.set(next[1]!.toLowerCase(), unquoted(next[2], next[3], next[4]));
    }
    if (match(COMMA) === undefined) break;
    members.push({ key: key?.toLowerCase(), value: unquoted(quoted, bytes, bare), parameters });
  }
  return members;
}
