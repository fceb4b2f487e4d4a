import { isRecord } from '@sluice/core/internal';
import type { Denial } from '../errors.js';

/** The tokens of one call of a model. */
export interface Usage {
  readonly model: string;
  /** All tokens of the prompt. */
  readonly input: number;
  readonly output: number;
  /** Tokens of `input` that came from the provider's cache. */
  readonly cacheRead: number;
  /** Tokens of `input` that went into the provider's cache. */
  readonly cacheWrite: number;
}

/** What the provider said of them so far. */
export type Figures = { readonly [Name in Exclude<keyof Usage, 'model'>]?: number | undefined };

/** Why a stream ended before the model had finished. */
export interface BudgetStop {
  readonly stopped: 'budget';
  readonly axis: string;
  readonly scope: string;
  /** ms until there is room again; null: never, for the same amounts. */
  readonly retryAfter: number | null;
}

// biome-ignore lint/suspicious/noExplicitAny: a value that a provider sends; each reader names the fields that it reads.
export type Wire = any;

/** Reads the events of one stream, in the protocol of one provider. */
export interface Reader {
  /** `output` is there once it is final. */
  readonly figures: Figures;
  /** Notes an event. @returns the text that the model has generated in it */
  read(event: Wire): string;
  /** Whether the model has finished: only figures follow. */
  readonly isComplete?: boolean;
  /** Whether the program did not request this event. */
  hides?(event: Wire): boolean;
  /** The events that end the stream where it is. */
  end(stop: BudgetStop, usage: Usage): Wire[];
}

export function stopOf({ axis, scope, retryAfter }: Denial): BudgetStop {
  return { stopped: 'budget', axis, scope, retryAfter: Number.isFinite(retryAfter) ? retryAfter : null };
}

/** Fields without text for the model, or with files: their tokens are known to the provider only. */
const NO_TEXT =
  /^(?:type|role|id|.*_id|.*Id|index|status|data|file_data|url|image_url|mediaType|media_type|signature|encrypted_content|cache_control|providerOptions|providerMetadata|finish_reason|annotations|logprobs)$/;

/** Arguments and results of tools: the model reads their JSON, with all names. */
const JSON_FIELDS = /^(?:input|arguments|result|value)$/;

/** All text of a call: its prompt, and the descriptions of its tools. */
export const promptOf = (prompt: unknown, tools: unknown): string =>
  textOf(prompt) + (tools ? JSON.stringify(tools) : '');

/** All text of a prompt, or of an answer. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join('');
  if (!isRecord(value)) return '';
  return Object.entries(value)
    .map(([name, inner]) => textOfField(name, inner, value))
    .join('');
}

function textOfField(name: string, value: unknown, { type }: Record<string, unknown>): string {
  if (name === 'data' && type === 'text') return textOf(value); // a document of Anthropic
  if (NO_TEXT.test(name) || (name === 'result' && type === 'image_generation_call')) return '';
  const isList = type === 'content'; // the value of a tool's result with texts and files
  const isJson = JSON_FIELDS.test(name) || (name === 'output' && isRecord(value) && value.type === undefined);
  return isList || typeof value === 'string' || !isJson ? textOf(value) : (JSON.stringify(value) ?? '');
}
