export interface Answer {
  readonly text: string;
  /** What the model counted: those of the prompt and those of the text. */
  readonly tokens: number;
}

/** Somebody else's model, which is paid by tokens. */
export interface Model {
  complete(prompt: string, maxTokens: number): Promise<Answer>;
}

/** Echoes the prompt, slowly; a prompt that begins with `fail` is too much for it. */
export const echoingModel: Model = {
  async complete(prompt, maxTokens) {
    if (prompt.startsWith('fail')) throw new Error('the model is overloaded');
    return { text: `You said: ${prompt}`, tokens: Math.min(1200, maxTokens) + Math.ceil(prompt.length / 4) };
  },
};
