export interface Answer {
  readonly text: string;
  /** The tokens of prompt and text together, as the model counts them. */
  readonly tokens: number;
}

/** A model that is paid per token. */
export interface Model {
  complete(prompt: string, maxTokens: number): Promise<Answer>;
}

/** Echoes the prompt after a pause. Fails for a prompt that begins with `fail`. */
export const echoingModel: Model = {
  async complete(prompt, maxTokens) {
    if (prompt.startsWith('fail')) throw new Error('the model is overloaded');
    return { text: `You said: ${prompt}`, tokens: Math.min(1200, maxTokens) + Math.ceil(prompt.length / 4) };
  },
};
