import type { Conversation } from '../conversation.ts';
import { RequestFault } from '../format.ts';
import type { WireMessage } from './request-context.ts';
import { isObject, objectOf } from '../json/object.ts';
import { listOf, stringOf } from '../json/read.ts';

/** The beta that sources of type `file` need (docs/protocols/anthropic-messages.md#betas). */
const FILES = 'files-api-2025-04-14';

/** Token syntax of a list in a header (RFC 9110, 5.6.2), so that a body cannot write further headers. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * The `anthropic-beta` header, a comma-separated list (docs/protocols/anthropic-messages.md#headers): the betas that the caller's body
 * names in `anthropic_beta` (a string or a list) and those that the messages need. Undefined if there are none.
 */
export function betasOf({ extras }: Conversation, messages: readonly WireMessage[]): string | undefined {
  const requested = extras?.anthropic_beta;
  const names = (listOf(requested) ?? [requested]).flatMap((entry) => (stringOf(entry) ?? '').split(','));
  const betas = new Set(names.map((name) => name.trim()).filter((name) => name !== ''));
  for (const name of betas) {
    if (!TOKEN.test(name))
      throw new RequestFault('invalid_value', '`anthropic_beta` holds an invalid beta name.', 'anthropic_beta');
  }
  if (messages.some(({ content }) => content.some(holdsFile))) betas.add(FILES);
  return betas.size > 0 ? [...betas].join(',') : undefined;
}

/** A tool result holds blocks of its own. */
function holdsFile(block: unknown): boolean {
  if (!isObject(block)) return false;
  return objectOf(block.source)?.type === 'file' || (listOf(block.content)?.some(holdsFile) ?? false);
}
