/** Text that is valid HTML. */
export class Markup {
  constructor(readonly text: string) {}
}

type Value = string | number | Markup | readonly Markup[] | undefined;

const CODES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A template of HTML: every value is escaped, except other templates. Control characters and marks of direction are shown. */
export function html(texts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  let text = texts[0]!;
  values.forEach((value, i) => {
    text += markupOf(value) + texts[i + 1]!;
  });
  return new Markup(text);
}

function markupOf(value: Value): string {
  if (value === undefined) return '';
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(({ text }: Markup) => text).join('');
  return String(value)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)
    .replace(/[&<>"']/g, (char) => CODES[char]!);
}
