import type { UpstreamFailure } from './events.ts';

/** Finish reasons of a generation that broke: it is no answer (docs/protocols/replies.md#broken-generations). */
const BROKEN: ReadonlySet<unknown> = new Set([
  'error', // OpenRouter, Mistral, vLLM
  'network_error', // GLM
  'insufficient_system_resource', // DeepSeek
  'abort', // vLLM, SGLang
  // Gemini, and its form at Google's OpenAI endpoint
  'MALFORMED_FUNCTION_CALL',
  'function_call_filter: MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'cancelled', // Responses
]);

/** The failure that a finish reason reports. Undefined: the generation ended properly, or its reason is not known. */
export function brokenGeneration(word: unknown, message?: string): UpstreamFailure | undefined {
  if (typeof word !== 'string' || !BROKEN.has(word)) return undefined;
  return { status: 502, kind: word, message: message || `The upstream reports that the generation broke (${word}).` };
}

/** The failure that a reply reports beside its usage, if it has one: the provider charges what it counted until then. */
export const withCount = (failure: UpstreamFailure, usage: unknown): UpstreamFailure =>
  usage === undefined ? failure : { ...failure, isCounted: true };
