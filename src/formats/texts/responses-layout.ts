import type { TextKind } from './channels.ts';
import type { LocatedText, ReplyLayout } from './layout.ts';
import { members, text, type Found, type Place, type TextNode } from './walk.ts';

/** Replies of `/v1/responses`: each text streams in deltas, and comes again whole in up to four later events. */

const TYPE: TextNode = { sets: 'type' };

const PART = members({
  type: TYPE,
  text: text('part'),
  refusal: text('part'),
  logprobs: { follows: '[]' },
  annotations: { follows: '[]' },
});

const PARTS: TextNode = { items: { counts: 'part', members: PART } };

/** Results of tools that run on the vendor's side. */
const RESULT = text('result');
const RESULTS: TextNode = {
  leaf: 'result',
  items: { members: members({ text: RESULT, logs: RESULT, stdout: RESULT, stderr: RESULT }) },
};

const ITEM = members({
  type: TYPE,
  content: PARTS,
  summary: PARTS,
  arguments: text('call'),
  input: text('call'),
  code: text('call'),
  output: RESULTS,
  outputs: RESULTS,
  results: RESULTS,
  revised_prompt: RESULT,
  error: { ...RESULT, members: members({ message: RESULT }) },
  encrypted_content: { leaf: 'sealed', sealed: 'plain' },
});

const OUTPUT: TextNode = { items: { counts: 'block', members: ITEM } };
const ERROR: TextNode = { members: members({ message: text('error') }) };

/** The text of a channel by the middle of an event's name: `response.output_text.delta`. */
const EVENTS: ReadonlyMap<string, readonly [kind: TextKind, key: string]> = new Map([
  ['output_text', ['text', 'text']],
  ['refusal', ['refusal', 'refusal']],
  ['reasoning_text', ['thinking', 'reasoning']],
  ['reasoning_summary_text', ['thinking', 'summary']],
  ['function_call_arguments', ['tool_arguments', 'call']],
  ['custom_tool_call_input', ['tool_arguments', 'call']],
  ['mcp_call_arguments', ['tool_arguments', 'call']],
  ['code_interpreter_call_code', ['tool_arguments', 'call']],
]);

/** The same by the type of a part. */
const PARTS_BY_TYPE: ReadonlyMap<string, readonly [kind: TextKind, key: string]> = new Map([
  ['output_text', ['text', 'text']],
  ['text', ['text', 'text']],
  ['refusal', ['refusal', 'refusal']],
  ['reasoning_text', ['thinking', 'reasoning']],
  ['summary_text', ['thinking', 'summary']],
]);

const PREFIX = 'response.';

function locate({ node: { leaf }, place }: Found, { type }: Place): LocatedText | undefined {
  if (leaf === 'error') return { key: 'error', kind: 'error', answer: 0, block: 0, as: 'whole' };
  const { block } = place;
  if (leaf === 'sealed')
    return { key: leaf, kind: place.type === 'compaction' ? 'text' : 'thinking', answer: 0, block, as: 'whole' };
  if (leaf === 'result') return { key: leaf, kind: 'tool_result', answer: 0, block, as: 'whole' };
  if (leaf === 'call') return at(['tool_arguments', 'call'], 0, { block, as: 'repeat' });
  if (leaf === 'part') return at(PARTS_BY_TYPE.get(place.type), place.part, { block, as: 'repeat' });
  const dot = type.lastIndexOf('.');
  const named = EVENTS.get(type.slice(PREFIX.length, dot));
  const isCall = named?.[0] === 'tool_arguments';
  const isDelta = type.endsWith('.delta');
  // Other events have other things under these names, such as sound in `delta`.
  if (isDelta !== (leaf === 'delta')) return undefined;
  return at(named, isCall ? 0 : place.part, { block, as: isDelta ? 'piece' : 'repeat' });
}

const at = (
  named: readonly [TextKind, string] | undefined,
  part: number,
  { block, as }: Pick<LocatedText, 'block' | 'as'>,
): LocatedText | undefined => named && { key: `${named[1]}:${block}:${part}`, kind: named[0], answer: 0, block, as };

const ENDS = /^response\.(?:completed|incomplete|failed|cancelled)$/;

export const responsesLayout: ReplyLayout = {
  repeats: true,
  rests: false,
  root: {
    members: members({
      type: TYPE,
      output_index: { sets: 'block' },
      content_index: { sets: 'part' },
      summary_index: { sets: 'part' },
      delta: text('delta'),
      text: text('done'),
      refusal: text('done'),
      arguments: text('done'),
      input: text('done'),
      code: text('done'),
      logprobs: { follows: '[]' },
      annotation: { follows: 'event' },
      part: { counts: 'none', members: PART },
      item: { counts: 'none', members: ITEM },
      response: { counts: 'none', members: members({ output: OUTPUT, error: ERROR }) },
      output: OUTPUT,
      error: ERROR,
      message: text('error'),
    }),
  },
  open: () => ({ locate, ends: ({ type }) => (ENDS.test(type) ? 'all' : undefined) }),
};
