/** What the adapters to the AI SDK share: its types, how to say that it has no word, and how to read a request. */
import type { createAnthropic } from '@ai-sdk/anthropic';
import type { Json } from './outbound.ts';

export type Model = ReturnType<ReturnType<typeof createAnthropic>['languageModel']>;
export type Call = Parameters<Model['doGenerate']>[0];
export type Prompt = Call['prompt'];
export type ProviderOptions = NonNullable<Call['providerOptions']>;
export type Tool = NonNullable<Call['tools']>[number];

export type Family = 'gemini' | 'claude' | 'claudeOnVertex' | 'llama' | 'openai';

/** The AI SDK has no word for it. */
export class Unspoken extends Error {}

export const unspoken = (what: string): never => {
  throw new Unspoken(what);
};

export function compact(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export const object = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
export const objects = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);
export const string = (value: unknown): string => (typeof value === 'string' ? value : '');
