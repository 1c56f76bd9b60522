import type { UpstreamFailure } from '../../formats/events.ts';

/** Names that other vendors' models have, and the prefix without which they are taken for Google's. */
const FORGOTTEN: readonly (readonly [form: RegExp, prefix: string])[] = [
  [/^claude-/, 'anthropic.'],
  [/^llama-/, 'meta.'],
  [/^(?:mistral|ministral|codestral|magistral)-/, 'mistralai.'],
];

export const forgottenPrefix = (model: string): string | undefined => FORGOTTEN.find(([form]) => form.test(model))?.[1];

/** Google does not know the model, and cannot know what was meant. */
export function explainPrefix(failure: UpstreamFailure, model: string): UpstreamFailure {
  const prefix = failure.status === 404 ? forgottenPrefix(model) : undefined;
  if (prefix === undefined) return failure;
  const message = failure.message.trimEnd();
  const hint = `A name without a prefix is taken for a model of Google's own: this one is written \`${prefix}${model}\`.`;
  return { ...failure, message: `${message}${/[.!?]$/.test(message) ? '' : '.'} ${hint}` };
}
