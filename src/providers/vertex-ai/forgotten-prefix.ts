import type { UpstreamFailure } from '../../formats/events.ts';

/** Forms of other vendors' model names, and the prefix without which they are treated as Google's. */
const FORGOTTEN: readonly (readonly [form: RegExp, prefix: string])[] = [
  [/^claude-/, 'anthropic.'],
  [/^llama-/, 'meta.'],
  [/^(?:mistral|ministral|codestral|magistral)-/, 'mistralai.'],
];

export const forgottenPrefix = (model: string): string | undefined => FORGOTTEN.find(([form]) => form.test(model))?.[1];

/** Adds a hint to Google's 404 for a model whose prefix is missing. */
export function explainPrefix(failure: UpstreamFailure, model: string): UpstreamFailure {
  const prefix = failure.status === 404 ? forgottenPrefix(model) : undefined;
  if (prefix === undefined) return failure;
  const message = failure.message.trimEnd();
  const hint = `A name without a prefix is treated as one of Google's own models: write \`${prefix}${model}\`.`;
  return { ...failure, message: `${message}${/[.!?]$/.test(message) ? '' : '.'} ${hint}` };
}
