import type { Conversation, FormatName } from './conversation.ts';
import { toSnake } from './json/field-names.ts';
import { RequestFault, type RequestTarget } from './format.ts';

/** Fields that promise where data are processed, and the values that promise nothing. */
export const RESIDENCY: ReadonlyMap<string, ReadonlySet<unknown>> = new Map([
  // https://platform.claude.com/docs/en/build-with-claude/data-residency
  ['inference_geo', new Set<unknown>([null, 'global'])],
]);

/** Refuses a promise that only Anthropic's own API keeps. Throws RequestFault. */
export function refuseElsewhere({ extras = {} }: Conversation, upstream: FormatName, { host }: RequestTarget): void {
  if (upstream === 'anthropic-messages' && host === 'direct') return;
  for (const param of Object.keys(extras)) {
    if (RESIDENCY.get(toSnake(param))?.has(extras[param]) !== false) continue;
    throw new RequestFault(
      'unsupported_parameter',
      `\`${param}\` says where the request may be processed, which this target cannot keep.`,
      param,
    );
  }
}
