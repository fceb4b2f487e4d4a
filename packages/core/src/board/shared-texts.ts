/** The text of a key. */
export interface SharedText {
  /** '' without one. */
  readonly text: string;
  /** Why the text was not read: then it is empty. */
  readonly problem?: string | undefined;
}

/** A new version of a text. */
export interface TextPush {
  /** The key of the list of versions. */
  readonly list: string;
  /** The list as the caller has read it. */
  readonly read: string;
  /** The line of the new version, without its time. */
  readonly line: string;
  /** The lines that stay. */
  readonly rest: string;
  /** The key of the new text. */
  readonly key: string;
  readonly text: string;
  /** The keys of texts to delete. */
  readonly dropped: readonly string[];
}

/**
 * Texts that operators change for all processes, such as rules: a list of versions at one key, and each text at another.
 * @throws StoreUnavailableError, StoreConfigurationError from each method
 */
export interface SharedTexts {
  /** @param most bytes: a longer text is not transferred */
  read(key: string, most: number): Promise<SharedText>;
  /** Which of these keys have a text. */
  kept(keys: readonly string[]): Promise<readonly boolean[]>;
  /**
   * Puts a line with the time before the list, keeps the new text, and deletes others, all or nothing.
   * @returns the list as it is now; '' if it was not the one that the caller has read: then nothing was changed
   */
  push(push: TextPush): Promise<string>;
  /** Calls `changed` soon after each push, and when one can have been missed. Resolves, once it follows, to a function that ends it. */
  follow(list: string, changed: () => void): Promise<() => void>;
}
