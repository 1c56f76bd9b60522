import type { TextKind } from './channels.ts';
import type { EndedTexts, LocatedText, ReplyLayout } from './layout.ts';
import { members, text, type Found, type Place, type TextNode } from './walk.ts';

/** Replies of `/v1/messages`. */

/** Results of tools that run on the vendor's side. Of a document, only a text is read. */
const RESULT = text('result');
const LIST: TextNode = { leaf: 'result', items: { members: members({ text: RESULT }) } };
const SOURCE: TextNode = { counts: 'none', members: members({ type: { sets: 'type' }, data: text('data') }) };
const INNER = members({
  text: RESULT,
  stdout: RESULT,
  stderr: RESULT,
  lines: { items: RESULT },
  content: { ...LIST, members: members({ source: SOURCE }) },
});

/** A signature may carry the thought that it signs. */
const SEALED: TextNode = { leaf: 'sealed', sealed: 'plain' };

/** The input of a call is an object, empty at the start of a streamed block. */
const BLOCK = members({
  type: { sets: 'type' },
  text: text('text'),
  thinking: text('thinking'),
  signature: SEALED,
  input: { leaf: 'input', json: true },
  content: { leaf: 'result', items: { members: INNER }, members: INNER },
  citations: { follows: '[]' },
});

const CONTENT: TextNode = { items: { counts: 'block', members: BLOCK } };

const KINDS: Readonly<Partial<Record<string, TextKind>>> = {
  thinking: 'thinking',
  sealed: 'thinking',
  input: 'tool_arguments',
  result: 'tool_result',
  data: 'tool_result',
  error: 'error',
};
const WHOLE: ReadonlySet<string> = new Set(['sealed', 'result', 'data', 'error']);

function locate({ node, place, from, to }: Found): LocatedText | undefined {
  const leaf = node.leaf ?? '';
  // The pieces of the input follow.
  if (node.json && to - from === '{}'.length) return undefined;
  if (leaf === 'data' && place.type !== 'text') return undefined;
  const { block } = place;
  const as = node.json || WHOLE.has(leaf) ? 'whole' : 'piece';
  return { key: `${leaf}:${block}`, kind: KINDS[leaf] ?? 'text', answer: 0, block, as };
}

function begins({ type, block }: Place): EndedTexts | undefined {
  return type === 'content_block_start' ? { block } : type === 'message_start' ? 'all' : undefined;
}

function ends({ type, block }: Place): EndedTexts | undefined {
  if (type === 'content_block_stop') return { block };
  return type === 'message_delta' || type === 'message_stop' ? 'all' : undefined;
}

export const messagesLayout: ReplyLayout = {
  repeats: false,
  rests: false,
  root: {
    members: members({
      type: { sets: 'type' },
      index: { sets: 'block' },
      delta: {
        members: members({
          text: text('text'),
          thinking: text('thinking'),
          signature: SEALED,
          partial_json: text('input'),
          citation: { follows: 'event' },
        }),
      },
      content_block: { counts: 'none', members: BLOCK },
      message: { members: members({ content: CONTENT }) },
      content: CONTENT,
      error: { members: members({ message: text('error') }) },
    }),
  },
  open: () => ({ locate, begins, ends }),
};
