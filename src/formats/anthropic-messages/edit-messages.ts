import type { BodyEdit, BodyView, Cleaning } from '../body-view.ts';
import type { JsonObject } from '../conversation.ts';
import { isObject, objectOf } from '../json/object.ts';
import { listOf } from '../json/read.ts';
import { LossReport } from '../losses/losses.ts';
import { loopLostThinking } from './encode-turns.ts';
import type { WireMessage } from './request-context.ts';

/** A block that goes into the edited body in place of another. A string is the reason why the block is left out. */
type Verdict = JsonObject | string;

interface Editing {
  /** Returns the same block for one that stays unchanged. */
  readonly judge: (block: JsonObject, next: unknown, place: string, losses: LossReport) => Verdict;
  /** Reason of the loss when manual thinking has to be switched off. */
  readonly lostThinking: string;
}

/** Edits the blocks of a body in this format. Undefined when every block stays unchanged. */
export function editMessages(body: BodyView, { judge, lostThinking }: Editing): Cleaning | undefined {
  const messages = listOf(body.value('messages'));
  if (!messages) return undefined;
  const losses = new LossReport();
  let changed = false;
  const kept = messages.flatMap((message, at) => {
    const content = isObject(message) ? listOf(message.content) : undefined;
    if (!isObject(message) || !content) return [message];
    const edited = editContent(content, `messages[${at}].content`, { judge, losses });
    if (edited === content) return [message];
    changed = true;
    // The API refuses an empty message, and merges the neighbours of a removed message
    // (docs/protocols/anthropic-messages.md#turns).
    return edited.length > 0 ? [{ ...message, content: edited }] : [];
  });
  if (!changed) return undefined;
  const edits: BodyEdit[] = [{ path: ['messages'], value: kept, source: 'gateway' }];
  if (needsThinking(body) && loopLostThinking(wireMessages(kept))) {
    edits.push({ path: ['thinking'], value: undefined, source: 'gateway' });
    losses.dropped('thinking', lostThinking);
  }
  return { edits, losses: losses.list() };
}

/** Returns the same list when nothing changes. */
function editContent(
  content: readonly unknown[],
  path: string,
  { judge, losses }: Pick<Editing, 'judge'> & { readonly losses: LossReport },
): readonly unknown[] {
  let changed = false;
  const kept = content.flatMap((block, at) => {
    if (!isObject(block)) return [block];
    const place = `${path}[${at}]`;
    const verdict = judge(block, content[at + 1], place, losses);
    changed ||= verdict !== block;
    if (typeof verdict !== 'string') return [verdict];
    losses.dropped(place, verdict);
    return [];
  });
  return changed ? kept : content;
}

/** With manual thinking a tool loop begins with it (docs/protocols/anthropic-messages.md#thinking-blocks). */
const needsThinking = (body: BodyView): boolean =>
  body.has('thinking') && objectOf(body.value('thinking'))?.type === 'enabled';

function wireMessages(messages: readonly unknown[]): readonly WireMessage[] {
  return messages.filter(isObject).map(({ role, content }) => ({
    role: role === 'assistant' ? 'assistant' : 'user',
    content: (listOf(content) ?? []).filter(isObject),
  }));
}
