import type { UpstreamFailure } from '../../../formats/events.ts';

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
  const hint = `A name without a prefix is treated as one of Google's own models: write \`${prefix}${model}\`.`;
  return withHint(failure, hint);
}

const PERMISSION_HINT =
  'The account of the Google token needs the permission `aiplatform.endpoints.predict` (included in roles/aiplatform.user).';

/** A 403 for another reason: a disabled API, missing billing, a network perimeter, an organization policy. */
const OTHER_REASON =
  /SERVICE_DISABLED|has not been used in project|API .*is disabled|billing|VPC_SERVICE_CONTROLS|service control|organization policy|orgpolicy/i;

/** Adds the remedy to Google's 403, which names the denied permission only. Refusals by Claude have another `kind` and are unchanged. */
export function explainPermission(failure: UpstreamFailure): UpstreamFailure {
  const { status, kind, message, code = '' } = failure;
  if (status !== 403 || (kind !== undefined && kind !== 'PERMISSION_DENIED')) return failure;
  if (OTHER_REASON.test(message) || OTHER_REASON.test(code)) return failure;
  return withHint(failure, PERMISSION_HINT);
}

/** A prompt beyond the size of Vertex AI's own front end, before Claude has read it. */
const TOO_LARGE = /^The (?:request|message) size \(.{0,200}\) exceeds\b/;

/** Claude's words, at which Claude Code compacts the conversation (docs/protocols/vertex-ai.md#claude-too-long). */
export const explainSize = (failure: UpstreamFailure): UpstreamFailure =>
  TOO_LARGE.test(failure.message) ? { ...failure, message: 'Input is too long.' } : failure;

function withHint(failure: UpstreamFailure, hint: string): UpstreamFailure {
  const message = failure.message.trimEnd();
  return { ...failure, message: `${message}${/[.!?]$/.test(message) ? '' : '.'} ${hint}` };
}
