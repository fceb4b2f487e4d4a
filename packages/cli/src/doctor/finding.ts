/** From harmless to urgent. */
export const LEVELS = ['ok', 'note', 'warning', 'error'] as const;
export type Level = (typeof LEVELS)[number];

/** One finding of `sluice doctor`. docs/doctor.md lists all ids. */
export interface Finding {
  readonly id: string;
  /** `ok`: no problem. `note`: information. `warning`: limits can fail later. `error`: they fail now, or did. */
  readonly level: Level;
  /** The observation. */
  readonly what: string;
  /** The reason why it matters. Empty for `ok`. */
  readonly why: string;
  /** The command or the setting that fixes it. Empty for `ok`. */
  readonly fix: string;
  /** `host:port`, if it concerns one server. */
  readonly node?: string;
}

/** The worst level of all; `ok` if there is none. */
export function worstOf(findings: readonly Finding[]): Level {
  return LEVELS[Math.max(0, ...findings.map(({ level }) => LEVELS.indexOf(level)))]!;
}

const EXIT_CODES: Readonly<Record<Level, 0 | 1 | 2>> = { ok: 0, note: 0, warning: 1, error: 2 };

/** 0: nothing worse than a note; 1: warnings; 2: errors. */
export const exitCodeOf = (findings: readonly Finding[]): 0 | 1 | 2 => EXIT_CODES[worstOf(findings)];
