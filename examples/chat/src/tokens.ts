/** The tokens of a text for the fake provider: its words. */
export const tokensOf = (text: string): number => text.match(/\S+/g)?.length ?? 0;
