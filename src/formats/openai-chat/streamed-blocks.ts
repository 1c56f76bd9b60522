import type { JsonObject } from '../conversation.ts';
import { append, isObject, stringOf } from '../json/object.ts';

/**
 * Assembles the fragments of streamed `content_blocks`, `{index, delta}`
 * (docs/protocols/replies.md#streamed-content-blocks), into the blocks of the plain reply: a client that only collects
 * them sends the fragments back. Whole blocks stay unchanged and in their place.
 */
export function assembleBlocks(items: readonly unknown[]): readonly unknown[] {
  if (!items.some(isFragment)) return items;
  const byIndex = new Map<unknown, JsonObject>();
  /** Citation lists that this function created and may extend in place. */
  const own = new Set<unknown>();
  const blocks: unknown[] = [];
  for (const item of items) {
    if (!isFragment(item)) {
      blocks.push(item);
      continue;
    }
    const open = byIndex.get(item.index);
    if (open) join(open, item.delta, own);
    else {
      const block = begin(item.delta);
      byIndex.set(item.index, block);
      blocks.push(block);
    }
  }
  return blocks;
}

interface Fragment {
  readonly index?: unknown;
  readonly delta: JsonObject;
}

function isFragment(item: unknown): item is Fragment {
  return isObject(item) && item.type === undefined && isObject(item.delta);
}

/** A fragment with a `type` is a whole block. A signature alone is that of an empty text, as in fold.ts. */
function begin(delta: JsonObject): JsonObject {
  if (typeof delta.type === 'string') return { ...delta };
  if (typeof delta.data === 'string') return { type: 'redacted_thinking', ...delta };
  const type = typeof delta.thinking === 'string' ? 'thinking' : 'text';
  return { type, [type]: '', ...delta };
}

function join(block: JsonObject, delta: JsonObject, own: Set<unknown>): void {
  for (const field of ['thinking', 'text'] as const) {
    const more = stringOf(delta[field]);
    if (more !== undefined) block[field] = `${stringOf(block[field]) ?? ''}${more}`;
  }
  if (typeof delta.signature === 'string') {
    block.signature = delta.signature;
    if (delta.maker !== undefined) block.maker = delta.maker;
  }
  if (Array.isArray(delta.citations)) {
    const citations: unknown[] = Array.isArray(block.citations) ? block.citations : [];
    if (own.has(citations)) append(citations, delta.citations);
    else own.add((block.citations = [...citations, ...delta.citations]));
  }
}
