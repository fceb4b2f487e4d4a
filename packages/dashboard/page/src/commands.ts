/** Where a command begins: a program, or the first word of a statement, as `sluice doctor` writes them. */
const FIRST =
  /^(?:sluice|redis-cli|npm|ACL|ALTER|CLIENT|CLUSTER|CONFIG|CREATE|DROP|GRANT|SCRIPT|SELECT|SENTINEL|SHUTDOWN|VACUUM)$/;
/** Words of a sentence, at which a command ends. */
const PROSE =
  /^(?:a|again|and|as|at|does|ends|for|from|if|in|is|it|lists|loads|of|on|or|shows|starts|than|that|the|then|this|to|with)$/;

/** A part of a text: a command, or words. */
export interface TextPart {
  readonly text: string;
  readonly isCommand: boolean;
}

/** Finds the commands in the advice of a finding. The parts are the whole text. */
export function commandsIn(advice: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  const add = (text: string, isCommand: boolean) => {
    const last = parts.at(-1);
    if (text === '') return;
    if (last?.isCommand === isCommand) parts[parts.length - 1] = { text: last.text + text, isCommand };
    else parts.push({ text, isCommand });
  };
  let inCommand = false;
  let isAfterComma = false; // GRANT SELECT, INSERT
  // Each word has the space before it.
  for (const [, space = '', word = '', end = ''] of advice.matchAll(/(\s*)(\S*[^\s.,;:])?([.,;:]*)/g)) {
    const begins = FIRST.test(word);
    const goesOn: boolean =
      inCommand && word !== '' && !PROSE.test(word) && (!isAfterComma || /^[A-Z]+$/.test(word));
    add(space, goesOn && !isAfterComma);
    add(word, begins || goesOn);
    add(end, false);
    isAfterComma = end === ',';
    inCommand = (begins || goesOn) && (end === '' || isAfterComma);
  }
  return parts;
}
