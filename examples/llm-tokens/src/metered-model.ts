import type { RateLimiter } from '@sluice/core';
import type { Answer, Model } from './model.js';

/** A model with a limit of tokens a minute for each user. */
export class MeteredModel {
  /** @param report gets errors of the store that are hidden from callers */
  constructor(
    readonly model: Model,
    readonly limiter: RateLimiter,
    readonly report: (error: Error) => void,
  ) {}

  /** @throws RateLimitExceededError if the user has too few tokens left; any error of the model */
  async complete(user: string, prompt: string, maxTokens: number): Promise<Answer> {
    const reservation = await this.limiter.reserve(user, estimate(prompt) + maxTokens);
    let answer: Answer;
    try {
      answer = await this.model.complete(prompt, maxTokens);
    } catch (error) {
      // If this fails too, the estimate stays taken. The caller still gets the model's error.
      await reservation.cancel().catch(this.report);
      throw error;
    }
    // The answer is already paid for. So return it even if the store is out: then the estimate stays taken.
    await reservation.settle(answer.tokens).catch(this.report);
    return answer;
  }
}

/** Deliberately high: English has about four characters per token, other languages fewer. */
const estimate = (prompt: string): number => Math.ceil(prompt.length / 3);
