import type { LogFormat } from './format.js';
import { LogRequest, requestLine, userOf } from './log-request.js';
import { accessLogTime } from './log-time.js';

// Without backtracking: each part ends where the next one can begin.
const QUOTED = '"([^"\\\\]*(?:\\\\.[^"\\\\]*)*)"';
const TIME = '\\[(\\d\\d/\\w{3}/\\d{4}:\\d\\d:\\d\\d:\\d\\d [+-]\\d{4})\\]';
const LINE = new RegExp(
  `^(\\S+) \\S+ (.*?) ?${TIME} ${QUOTED} (\\d{3}|-) (?:\\d+|-)(?: ${QUOTED} ${QUOTED})?`,
  's',
);

/** Does the line have a referer and a user agent? */
export const isCombined = (line: string): boolean => LINE.exec(line)?.[7] !== undefined;

/**
 * Lines of `ip - user [22/Nov/2026:13:55:36 +0100] "GET /a HTTP/1.1" 200 512 "referer" "user agent"`, also without the last two: the
 * combined and the common log format of nginx and Apache. Further fields are ignored.
 */
export function accessLog(name: 'combined' | 'common'): LogFormat {
  // Most lines have the time of the line before.
  let lastText = '';
  let lastTime: number | undefined;
  return {
    name,
    parse(text) {
      const [, ip, user, timeText, request, status, referer, agent] = LINE.exec(text) ?? [];
      if (ip === undefined) return 'is not of the combined or the common log format';
      if (timeText !== lastText) {
        lastTime = accessLogTime(timeText!);
        lastText = timeText!;
      }
      if (lastTime === undefined) return 'has a time that does not exist, or after the year 2199';
      const sent = requestLine(unescaped(request!));
      if (sent === undefined) return 'has no HTTP request';
      return new LogRequest({
        time: lastTime,
        status: status === '-' ? undefined : Number(status),
        ip,
        user: userOf(unescaped(user!)),
        ...sent,
        headers: headersOf(referer, agent),
      });
    },
  };
}

function headersOf(referer: string | undefined, agent: string | undefined) {
  const headers: Record<string, string> = {};
  if (referer !== undefined && referer !== '-') headers.referer = unescaped(referer);
  if (agent !== undefined && agent !== '-') headers['user-agent'] = unescaped(agent);
  return headers;
}

/** nginx writes `\x22` for a quote, Apache `\"`. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\(?:x([\dA-Fa-f]{2})|(.))/gs, (_, code: string | undefined, char: string) =>
    code === undefined ? char : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
