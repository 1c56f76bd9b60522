/**
 * One reply as each vendor writes it: whole, and as a stream whose fragments are interleaved in every way that the vendor's API
 * allows.
 */
import * as fc from 'fast-check';
import type { FormatName, JsonObject } from './conversation.ts';
import { fragments, random } from './generations.testkit.ts';

interface SaidCall {
  readonly id: string;
  readonly name: string;
  /** `wrapped`: a free-text tool that was sent as a function. `custom`: one that the API itself has. */
  readonly form: 'function' | 'wrapped' | 'custom';
  readonly input: Readonly<Record<string, string>>;
}

export interface Said {
  readonly thinking: string;
  readonly text: string;
  readonly calls: readonly SaidCall[];
}

const words = fc.oneof(
  fc.string({ maxLength: 12, unit: 'grapheme' }),
  fc.constantFrom('\n', '\n\n', '}', '{"a":1}', '"', '\\', '\\"}', ']', '*** Begin Patch\n*** End Patch', '👩‍👩‍👧'),
);

const call = fc.oneof(
  fc.record({
    form: fc.constant('function' as const),
    input: fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), words, { maxKeys: 3 }),
  }),
  fc.record({
    form: fc.constantFrom('wrapped' as const, 'custom' as const),
    input: fc.record({ input: words }),
  }),
);

export const said: fc.Arbitrary<Said> = fc.record({
  thinking: fc.oneof(fc.constant(''), words),
  text: words,
  calls: fc
    .array(call, { maxLength: 4 })
    .map((calls) =>
      calls.map((one, at) => ({ ...one, id: `call_${at}`, name: one.form === 'function' ? 'f' : one.form })),
    ),
});

/** Names of the free-text tools that were sent as functions. */
const WRAPPED: ReadonlySet<string> = new Set(['wrapped']);

/** Parts of a stream that keep their own order. */
interface Thread {
  readonly steps: readonly JsonObject[];
  /** The thread begins only after another has begun, or has ended. */
  readonly after?: { readonly thread: Thread; readonly has: 'begun' | 'ended' };
}

type Next = () => number;

/** Takes the next step of any thread that may go on, until none is left. */
function interleave(threads: readonly Thread[], next: Next): JsonObject[] {
  const taken = new Map(threads.map((thread) => [thread, 0]));
  const isReady = ({ steps, after }: Thread, at: number): boolean => {
    if (at === steps.length) return false;
    if (!after || at > 0) return true;
    const before = taken.get(after.thread) ?? 0;
    return after.has === 'begun' ? before > 0 : before === after.thread.steps.length;
  };
  const steps: JsonObject[] = [];
  for (;;) {
    const ready = threads.filter((thread) => isReady(thread, taken.get(thread)!));
    if (ready.length === 0) return steps;
    const thread = ready[Math.floor(next() * ready.length)]!;
    const at = taken.get(thread)!;
    steps.push(thread.steps[at]!);
    taken.set(thread, at + 1);
  }
}

/** Calls begin in the order of the plain reply, in which clients list them. */
function inTurn(steps: readonly (readonly JsonObject[])[], has: 'begun' | 'ended'): Thread[] {
  const threads: Thread[] = [];
  for (const own of steps) {
    const before = threads.at(-1);
    threads.push({ steps: own, ...(before && { after: { thread: before, has } }) });
  }
  return threads;
}

const event = (data: JsonObject): string =>
  `${typeof data.type === 'string' ? `event: ${data.type}\n` : ''}data: ${JSON.stringify(data)}\n\n`;

interface Wire {
  readonly plain: JsonObject;
  readonly stream: string;
}

type Write = (reply: Said, next: Next) => Wire;

const isFree = ({ form }: SaidCall): boolean => form === 'custom';
const jsonOf = ({ input }: SaidCall): string => JSON.stringify(input);

const chat: Write = ({ thinking, text, calls }, next) => {
  const wordsOf = (key: string, value: string): Thread => ({
    steps: ['', ...fragments(value, next), ''].map((piece) => ({ [key]: piece })),
  });
  const stepsOf = (one: SaidCall, index: number): JsonObject[] => {
    const [kind, field, all] = isFree(one)
      ? (['custom', 'input', one.input.input!] as const)
      : (['function', 'arguments', jsonOf(one)] as const);
    const item = (body: JsonObject, more: JsonObject = {}): JsonObject => ({
      tool_calls: [{ index, ...more, [kind]: body }],
    });
    return [
      item({ name: one.name, [field]: '' }, { id: one.id, type: kind }),
      ...fragments(all, next).map((piece) => item({ [field]: piece })),
    ];
  };
  const threads = [
    wordsOf('reasoning_content', thinking),
    wordsOf('content', text),
    ...inTurn(calls.map(stepsOf), 'begun'),
  ];
  const chunk = (delta: JsonObject, finish_reason: string | null = null): string =>
    event({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] });
  const finish = calls.length > 0 ? 'tool_calls' : 'stop';
  const tool_calls = calls.map((one) =>
    isFree(one)
      ? { id: one.id, type: 'custom', custom: { name: one.name, input: one.input.input } }
      : { id: one.id, type: 'function', function: { name: one.name, arguments: jsonOf(one) } },
  );
  const message = {
    role: 'assistant',
    reasoning_content: thinking,
    content: text,
    ...(calls.length > 0 && { tool_calls }),
  };
  return {
    plain: { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: finish }] },
    stream: `${together(interleave(threads, next), next)
      .map((delta) => chunk(delta))
      .join('')}${chunk({}, finish)}data: [DONE]\n\n`,
  };
};

/** Joins neighbouring deltas into one chunk at random: a text with the fragment of a call, or several calls. */
function together(deltas: readonly JsonObject[], next: Next): JsonObject[] {
  const joined: JsonObject[] = [];
  for (const delta of deltas) {
    const last = joined.at(-1);
    const key = Object.keys(delta)[0]!;
    if (!last || next() < 0.6 || (key !== 'tool_calls' && key in last)) joined.push({ ...delta });
    else last[key] = key in last ? [...(last[key] as JsonObject[]), ...(delta[key] as JsonObject[])] : delta[key];
  }
  return joined;
}

const claude: Write = ({ thinking, text, calls }, next) => {
  const blocks: { block: JsonObject; empty: JsonObject; deltas: JsonObject[] }[] = [];
  if (thinking)
    blocks.push({
      block: { type: 'thinking', thinking, signature: '' },
      empty: { type: 'thinking', thinking: '', signature: '' },
      deltas: fragments(thinking, next).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
    });
  if (text)
    blocks.push({
      block: { type: 'text', text },
      empty: { type: 'text', text: '' },
      deltas: fragments(text, next).map((piece) => ({ type: 'text_delta', text: piece })),
    });
  const words = blocks.length;
  for (const one of calls)
    blocks.push({
      block: { type: 'tool_use', id: one.id, name: one.name, input: one.input },
      empty: { type: 'tool_use', id: one.id, name: one.name, input: {} },
      deltas: fragments(jsonOf(one), next).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    });
  const steps = blocks.map(({ empty, deltas }, index) => [
    { type: 'content_block_start', index, content_block: empty },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]);
  const threads = [...steps.slice(0, words).map((own) => ({ steps: own })), ...inTurn(steps.slice(words), 'begun')];
  const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  return {
    plain: { ...message, content: blocks.map(({ block }) => block), stop_reason },
    stream: [
      { type: 'message_start', message: { ...message, content: [] } },
      ...interleave(threads, next),
      { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ]
      .map(event)
      .join(''),
  };
};

const responses: Write = ({ thinking, text, calls }, next) => {
  const items: { item: JsonObject; open: JsonObject; deltas: JsonObject[] }[] = [];
  const delta = (name: string, value: string, more: JsonObject = {}): JsonObject[] =>
    fragments(value, next).map((piece) => ({ type: `response.${name}.delta`, ...more, delta: piece }));
  if (thinking) {
    const item = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: thinking }] };
    const deltas = delta('reasoning_summary_text', thinking, { summary_index: 0 });
    items.push({ item, open: { ...item, summary: [] }, deltas });
  }
  if (text) {
    const content = [{ type: 'output_text', text, annotations: [] }];
    const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
    items.push({ item, open: { ...item, content: [] }, deltas: delta('output_text', text, { content_index: 0 }) });
  }
  const words = items.length;
  for (const one of calls) {
    const shared = { id: `fc_${one.id}`, call_id: one.id, name: one.name, status: 'completed' };
    const [type, field, all, name] =
      one.form === 'function'
        ? (['function_call', 'arguments', jsonOf(one), 'function_call_arguments'] as const)
        : (['custom_tool_call', 'input', one.input.input!, 'custom_tool_call_input'] as const);
    items.push({
      item: { type, ...shared, [field]: all },
      open: { type, ...shared, [field]: '' },
      deltas: delta(name, all),
    });
  }
  const steps = items.map(({ item, open, deltas }, output_index) => [
    { type: 'response.output_item.added', output_index, item: open },
    ...deltas.map((one) => ({ ...one, output_index })),
    { type: 'response.output_item.done', output_index, item },
  ]);
  const threads = [...steps.slice(0, words).map((own) => ({ steps: own })), ...inTurn(steps.slice(words), 'begun')];
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const response = { id: 'resp_1', object: 'response', model: 'm', created_at: 1 };
  const plain = { ...response, status: 'completed', output: items.map(({ item }) => item), usage };
  return {
    plain,
    stream: [
      { type: 'response.created', response: { ...response, output: [] } },
      ...interleave(threads, next),
      { type: 'response.completed', response: plain },
    ]
      .map(event)
      .join(''),
  };
};

/** Parts have no index: a piece of a call continues the call before it, and texts may come between. */
const gemini: Write = ({ thinking, text, calls }, next) => {
  const wordsOf = (value: string, more: JsonObject = {}): Thread => ({
    steps: ['', ...fragments(value, next), ''].map((piece) => ({ text: piece, ...more })),
  });
  const stepsOf = ({ id, name, input }: SaidCall): JsonObject[] => [
    { functionCall: { id, name, willContinue: true } },
    ...Object.entries(input).flatMap(([key, value]) => {
      const pieces = fragments(value, next);
      return pieces.map((stringValue, at) => {
        const more = at < pieces.length - 1 && { willContinue: true };
        return { functionCall: { partialArgs: [{ jsonPath: `$.${key}`, stringValue, ...more }], willContinue: true } };
      });
    }),
    { functionCall: {} },
  ];
  const threads = [wordsOf(thinking, { thought: true }), wordsOf(text), ...inTurn(calls.map(stepsOf), 'ended')];
  const chunk = (part: JsonObject): string =>
    event({ candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }], modelVersion: 'm' });
  const parts = [
    ...(thinking ? [{ text: thinking, thought: true }] : []),
    ...(text ? [{ text }] : []),
    ...calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } })),
  ];
  return {
    plain: { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }], modelVersion: 'm' },
    stream: `${interleave(threads, next).map(chunk).join('')}${event({ candidates: [{ finishReason: 'STOP', index: 0 }] })}`,
  };
};

const WRITERS: Readonly<Record<FormatName, Write>> = {
  'openai-chat': chat,
  'anthropic-messages': claude,
  'openai-responses': responses,
  gemini,
};

export const UPSTREAMS = Object.keys(WRITERS) as FormatName[];

export const write = (upstream: FormatName, reply: Said, seed: number): Wire => WRITERS[upstream](reply, random(seed));

/** Free-text tools of an API that has them are `custom` there; every other API gets functions. */
export const customTools = (upstream: FormatName): ReadonlySet<string> =>
  upstream === 'openai-chat' || upstream === 'openai-responses' ? WRAPPED : new Set(['wrapped', 'custom']);
