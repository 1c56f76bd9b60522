import type { TextKind } from './channels.ts';
import type { ReplyLayout, LocatedText } from './layout.ts';
import { members, text, type Found, type TextNode } from './walk.ts';

/** Replies of `/v1/chat/completions`, also with the extensions of servers and of this gateway, of `/v1/completions`, and of images. */

const TYPE: TextNode = { sets: 'type' };
const BLOCK: TextNode = { sets: 'block' };
const CHOICE: TextNode = { sets: 'choice' };

/** Code, calls and results of tools that run on the vendor's side: each comes whole. */
const SERVED = {
  code: text('call'),
  input: { leaf: 'call', json: true },
  output: text('result'),
  content: { leaf: 'result', items: { members: members({ text: text('result') }) } },
} as const;

/** Mistral has texts of thinking as a list of parts. */
const PART: TextNode = {
  counts: 'block',
  members: members({
    type: TYPE,
    index: BLOCK,
    text: text('part'),
    refusal: text('part refusal'),
    thinking: { leaf: 'part thinking', items: { members: members({ text: text('part thinking') }) } },
    delta: { members: members({ text: text('part'), thinking: text('part thinking'), ...SERVED }) },
    ...SERVED,
  }),
};

const CALL: TextNode = {
  counts: 'block',
  members: members({
    index: BLOCK,
    function: { members: members({ arguments: text('arguments') }) },
    custom: { members: members({ input: text('arguments') }) },
  }),
};

const DETAIL: TextNode = {
  counts: 'block',
  members: members({ index: BLOCK, text: text('detail thinking'), summary: text('detail thinking') }),
};

const MESSAGE: TextNode = {
  members: members({
    content: { leaf: 'content', items: PART },
    content_blocks: { items: PART },
    content_parts: { items: PART },
    reasoning_content: text('reasoning_content'),
    reasoning: text('reasoning'),
    reasoning_details: { items: DETAIL },
    refusal: text('refusal'),
    function_call: { members: members({ arguments: text('function_call') }) },
    tool_calls: { items: CALL },
    // The sound says what the transcript said.
    audio: { members: members({ transcript: text('transcript'), data: { follows: '""' } }) },
    annotations: { follows: '[]' },
  }),
};

const KINDS: Readonly<Partial<Record<string, TextKind>>> = {
  'part refusal': 'refusal',
  'part thinking': 'thinking',
  'detail thinking': 'thinking',
  reasoning_content: 'thinking',
  reasoning: 'thinking',
  refusal: 'refusal',
  arguments: 'tool_arguments',
  function_call: 'tool_arguments',
  call: 'tool_arguments',
  result: 'tool_result',
  error: 'error',
};
const WHOLE: ReadonlySet<string> = new Set(['call', 'result', 'error']);

function locate({ node: { leaf = '' }, place: { choice: answer, block } }: Found): LocatedText {
  const kind = KINDS[leaf] ?? 'text';
  return { key: `${leaf}:${answer}:${block}`, kind, answer, block, as: WHOLE.has(leaf) ? 'whole' : 'piece' };
}

export const chatLayout: ReplyLayout = {
  repeats: false,
  rests: true,
  root: {
    members: members({
      choices: {
        items: {
          counts: 'choice',
          members: members({
            index: CHOICE,
            delta: MESSAGE,
            message: MESSAGE,
            text: text('content'),
            logprobs: { follows: 'null' },
          }),
        },
      },
      data: { items: { counts: 'block', members: members({ revised_prompt: text('result') }) } },
      error: { members: members({ message: text('error') }) },
    }),
  },
  open: () => ({ locate }),
};
