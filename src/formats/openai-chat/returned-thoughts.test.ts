import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName, JsonObject } from '../conversation.ts';
import type { ClientContext, ReplyContext } from '../format.ts';
import type { RequestTarget } from '../request-target.ts';
import { formats } from '../index.ts';
import { noLosses } from '../losses/reply-losses.ts';
import { finish } from '../steps.ts';
import { fold } from '../streams/fold.ts';
import { translateRequest } from '../translate.ts';
import { thoughtMaker } from './returned-thoughts.ts';
import { replyWith } from '../contexts.testkit.ts';

const entry = (signatureScope: string, more: Partial<RequestTarget> = {}): RequestTarget => ({
  model: 'kimi-k2-thinking',
  host: 'direct',
  strict: false,
  signatureScope,
  ...more,
});
const OWN = entry('aaaaaaaaaaaa');

const replyOf = ({ signatureScope }: RequestTarget): ReplyContext => ({
  model: 'm',
  newCallId: () => 'call_new',
  ...(signatureScope !== undefined && { signatureScope, thoughtMaker: `chat-${signatureScope}` }),
});

const client: ClientContext = { id: 'resp_1', created: 1, strict: false, includeUsage: true, model: 'm' };

const call = { id: 'call_a', type: 'function', function: { name: 'get', arguments: '{"c":"X"}' } };
const details = [
  { type: 'reasoning.text', text: 'I should call get', format: 'f', index: 0 },
  { type: 'reasoning.encrypted', data: 'ENC', format: 'f', index: 1 },
];

/** The fields in which servers send thoughts, as a message has them, and what goes back. */
const SERVERS: Readonly<Record<string, { message: JsonObject; back: JsonObject }>> = {
  'reasoning_content (Kimi, DeepSeek)': {
    message: { reasoning_content: 'I should call get' },
    back: { reasoning_content: 'I should call get' },
  },
  'an empty reasoning_content (Kimi, DeepSeek)': {
    message: { reasoning_content: '' },
    back: { reasoning_content: '' },
  },
  'reasoning (vLLM, Groq)': { message: { reasoning: 'I should call get' }, back: { reasoning: 'I should call get' } },
  'reasoning_details alone': { message: { reasoning_details: details }, back: { reasoning_details: details } },
  'reasoning_details beside reasoning (OpenRouter)': {
    message: { reasoning: 'I should call get', reasoning_details: details },
    back: { reasoning_details: details },
  },
  'encrypted details alone': {
    message: { reasoning_details: [details[1]] },
    back: { reasoning_details: [details[1]] },
  },
  'parts of the content (Mistral)': {
    message: { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'I should call get' }] }] },
    back: { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'I should call get' }] }] },
  },
};

const message = (fields: JsonObject): JsonObject => ({
  role: 'assistant',
  content: null,
  ...fields,
  tool_calls: [call],
});

const plainReply = (fields: JsonObject) => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: message(fields), finish_reason: 'tool_calls' }],
});

/** Each field in two fragments, the call in three. */
function chunks(fields: JsonObject): string {
  const deltas: JsonObject[] = Object.entries(fields).flatMap(([key, value]): JsonObject[] => {
    if (typeof value === 'string') return [{ [key]: value.slice(0, 3) }, { [key]: value.slice(3) }];
    if (key === 'content') return [{ content: value }];
    return (value as JsonObject[]).flatMap((detail) => {
      const field = detail.text === undefined ? 'data' : 'text';
      const whole = String(detail[field]);
      return [
        { reasoning_details: [{ ...detail, [field]: whole.slice(0, 1) }] },
        { reasoning_details: [{ ...detail, [field]: whole.slice(1) }] },
      ];
    });
  });
  const args = call.function.arguments;
  deltas.push({ tool_calls: [{ ...call, index: 0, function: { name: 'get', arguments: '' } }] });
  deltas.push({ tool_calls: [{ index: 0, function: { arguments: args.slice(0, 4) } }] });
  deltas.push({ tool_calls: [{ index: 0, function: { arguments: args.slice(4) } }] });
  const lines = deltas.map((delta) => ({ index: 0, delta, finish_reason: null as string | null }));
  lines.push({ index: 0, delta: {}, finish_reason: 'tool_calls' });
  return lines.map((choice) => `data: ${JSON.stringify({ id: 'c1', model: 'm', choices: [choice] })}\n\n`).join('');
}

const chat = formats['openai-chat'];

const eventsOf = (fields: JsonObject, streamed: boolean, { from = OWN, notes = noLosses() } = {}) => {
  if (!streamed) return chat.decodeReply(plainReply(fields), replyOf(from), notes);
  const decoder = chat.decodeStream(replyOf(from), notes);
  return [...decoder.push(Buffer.from(chunks(fields))), ...decoder.end()];
};

const result = '{"r":1}';

/** The next request of a client: what it got of the reply, and the result of the call. `shown`: the thought is in it as text. */
const DOORS: Readonly<Record<string, { readonly place: RegExp; readonly next: (reply: JsonObject) => JsonObject }>> = {
  'anthropic-messages': {
    place: /^messages\[1\]/,
    next: ({ content }) => ({
      max_tokens: 100,
      messages: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_a', content: result }] },
      ],
    }),
  },
  'openai-responses': {
    place: /^input\[1\]/,
    next: ({ output }) => ({
      input: [
        { type: 'message', role: 'user', content: 'q' },
        ...(output as JsonObject[]),
        { type: 'function_call_output', call_id: 'call_a', output: result },
      ],
    }),
  },
  gemini: {
    place: /^contents\[1\]/,
    next: ({ candidates }) => ({
      contents: [
        { role: 'user', parts: [{ text: 'q' }] },
        (candidates as readonly [{ content: JsonObject }])[0].content,
        { role: 'user', parts: [{ functionResponse: { id: 'call_a', name: 'get', response: { output: result } } }] },
      ],
    }),
  },
};

function asked(door: string, body: JsonObject, target: RequestTarget, upstream: FormatName = 'openai-chat') {
  const translation = {
    client: formats[door as FormatName],
    upstream: formats[upstream],
    target,
    reply: replyOf(target),
  };
  return finish(translateRequest({ model: 'm', ...body }, translation));
}

const assistantOf = ({ body }: { readonly body: JsonObject }) =>
  (body.messages as readonly JsonObject[]).find(({ role }) => role === 'assistant')!;

const cells = Object.keys(DOORS).flatMap((door) =>
  Object.keys(SERVERS).flatMap((server) => [true, false].map((streamed) => [door, server, streamed] as const)),
);

const encoded = (door: string, events: Parameters<typeof fold>[0], context = client) =>
  replyWith(formats[door as FormatName], events, context);

describe.each(cells)('a client of %s gets a thought from %s (streamed: %s), which', (door, server, streamed) => {
  const { message: fields, back } = SERVERS[server]!;
  const { next, place } = DOORS[door]!;
  const reply = encoded(door, eventsOf(fields, streamed));

  it('goes back to its entry', () => {
    const sent = asked(door, next(reply), OWN);
    expect(assistantOf(sent)).toEqual(message(back));
    expect(sent.losses).toEqual([]);
  });

  it.each([
    ['another entry', entry('bbbbbbbbbbbb')],
    ['a server that does not take thoughts', entry('aaaaaaaaaaaa', { extensions: new Set() })],
    ['a server without a scope', { model: 'm', host: 'direct' as const, strict: false }],
  ])('goes to no other place, and its loss is reported: %s', (_name, target) => {
    const sent = asked(door, next(reply), target);
    expect(assistantOf(sent)).toEqual(message({}));
    expect(sent.losses.filter(({ param, action }) => place.test(param) && action === 'dropped')).not.toEqual([]);
  });

  it.each(['anthropic-messages', 'gemini', 'openai-responses'] as const)('goes to no model of %s', (upstream) => {
    if (upstream === door) return;
    const sent = asked(
      door,
      {
        ...next(reply),
        ...(door === 'gemini' && { generationConfig: { maxOutputTokens: 100 } }),
        ...(door === 'openai-responses' && { max_output_tokens: 100 }),
      },
      OWN,
      upstream,
    );
    expect(JSON.stringify(sent.body)).not.toMatch(/I should call get|ENC/);
    expect(sent.losses.filter(({ param }) => place.test(param))).not.toEqual([]);
  });
});

describe('a thought of a server of the chat API', () => {
  const { message: fields } = SERVERS['reasoning_content (Kimi, DeepSeek)']!;

  it.each(['anthropic-messages', 'openai-responses', 'gemini'])(
    'goes back from a client of %s that does not show thoughts',
    (door) => {
      const hidden = { ...client, hideThoughts: true, signsHidden: true };
      const reply = encoded(door, eventsOf(fields, true), hidden);
      expect(JSON.stringify(reply)).not.toContain('I should call get');
      expect(assistantOf(asked(door, DOORS[door]!.next(reply), OWN)).reasoning_content).toBe('I should call get');
    },
  );

  it('goes back from a client of Gemini that keeps the signatures of calls alone', () => {
    const reply = encoded('gemini', eventsOf(fields, true));
    const { contents } = DOORS.gemini!.next(reply) as { contents: { parts: JsonObject[] }[] };
    contents[1]!.parts = contents[1]!.parts.filter((part) => part.thought !== true);
    expect(assistantOf(asked('gemini', { contents }, OWN)).reasoning_content).toBe('I should call get');
  });

  const unsigned = (parts: JsonObject[]) => ({
    contents: [
      { role: 'user', parts: [{ text: 'q' }] },
      { role: 'model', parts: [{ text: 'I should call get', thought: true }, ...parts] },
      { role: 'user', parts: [{ text: 'r' }] },
    ],
  });

  it('goes with its call from a client of Gemini that keeps no signature', () => {
    const { losses, ...sent } = asked('gemini', unsigned([{ functionCall: { name: 'get', args: {} } }]), OWN);
    expect(assistantOf(sent).reasoning_content).toBe('I should call get');
    expect(losses).toEqual([]);
  });

  it.each([
    ['beside a call that Gemini signed', [{ functionCall: { name: 'get', args: {} }, thoughtSignature: 'c2ln' }]],
    ['beside a text alone', [{ text: 'a' }]],
  ])('without a signature is no thought of the server %s', (_name, parts) => {
    const { losses, ...sent } = asked('gemini', unsigned(parts), OWN);
    expect(assistantOf(sent).reasoning_content).toBeUndefined();
    expect(losses).toContainEqual(expect.objectContaining({ action: 'dropped', param: 'contents[1].parts[0]' }));
  });

  it('without a signature is lost from a client of Messages, which is reported', () => {
    const content = [
      { type: 'thinking', thinking: 'old', signature: '' },
      { type: 'tool_use', id: 'call_a', name: 'get', input: {} },
    ];
    const sent = asked('anthropic-messages', DOORS['anthropic-messages']!.next({ content }), OWN);
    expect(assistantOf(sent)).not.toHaveProperty('reasoning_content');
    expect(sent.losses).toContainEqual(expect.objectContaining({ param: 'messages[1].content[0]' }));
  });

  it('without an answer after it makes no message, which servers would refuse, and is reported', () => {
    const [thought] = (encoded('anthropic-messages', eventsOf(fields, false)) as { content: JsonObject[] }).content;
    const messages = [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: [thought] },
      { role: 'user', content: 'r' },
    ];
    const { body, losses } = asked('anthropic-messages', { max_tokens: 100, messages }, OWN);
    expect((body.messages as JsonObject[]).map(({ role }) => role)).toEqual(['user', 'user']);
    expect(losses).toContainEqual(expect.objectContaining({ action: 'dropped', param: 'messages[1]' }));
  });

  it('that is in front of the answer in tags is not signed: its vendors want it left out', () => {
    const text = '<think>hm</think>a';
    const body = { choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }] };
    const events = chat.decodeReply(body, { ...replyOf(OWN), inlineThinking: true }, noLosses());
    expect(events.some(({ type }) => type === 'signature')).toBe(false);
  });

  it('has details that came behind the text of the answer', () => {
    const body = {
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'a', reasoning_details: [details[1]] },
          finish_reason: 'stop',
        },
      ],
    };
    const nexts: Readonly<Record<string, (reply: JsonObject) => JsonObject>> = {
      'openai-responses': ({ output }) => ({ input: output }),
      gemini: ({ candidates }) => ({ contents: [(candidates as readonly [{ content: JsonObject }])[0].content] }),
    };
    for (const [door, next] of Object.entries(nexts)) {
      const reply = encoded(door, chat.decodeReply(body, replyOf(OWN), noLosses()));
      const sent = asked(door, next(reply), OWN);
      expect(assistantOf(sent)).toMatchObject({ content: 'a', reasoning_details: [details[1]] });
      expect(assistantOf(asked(door, next(reply), entry('bbbbbbbbbbbb')))).not.toHaveProperty('reasoning_details');
    }
  });

  it.each([
    ['its details are too long for an envelope', 300_000, OWN],
    ['its server does not take it back', 3, entry('aaaaaaaaaaaa', { extensions: new Set() })],
  ])('is shown and no more where %s, which is reported', (_why, length, target) => {
    for (const streamed of [true, false]) {
      const notes = noLosses();
      const long = [{ type: 'reasoning.encrypted', data: 'x'.repeat(length), index: 0 }];
      const from = thoughtMaker(target) === undefined ? { ...target, signatureScope: undefined } : target;
      const events = eventsOf({ reasoning: 'why', reasoning_details: long }, streamed, { from, notes });
      expect(events.some(({ type }) => type === 'signature')).toBe(false);
      expect(events).toContainEqual(expect.objectContaining({ type: 'thinking' }));
      expect(notes.losses).toEqual([expect.objectContaining({ param: 'reply.reasoning_details' })]);
    }
  });

  it.each(['x', '{"a":1}', '[1]', 'tool_calls', '__proto__'])('with the forged signature %j is lost', (signature) => {
    const envelope = `gh1.chat-aaaaaaaaaaaa.t.${Buffer.from(JSON.stringify({ signature })).toString('base64url')}`;
    const content = [
      { type: 'thinking', thinking: 'x', signature: envelope },
      { type: 'text', text: 'a' },
    ];
    const sent = asked('anthropic-messages', DOORS['anthropic-messages']!.next({ content }), OWN);
    expect(assistantOf(sent)).toEqual({ role: 'assistant', content: 'a' });
    expect(sent.losses).toContainEqual(expect.objectContaining({ param: 'messages[1].content[0]' }));
  });

  it('is whole in front of what follows it, however thoughts, texts and calls take turns', () => {
    const delta = fc.oneof(
      fc.string({ minLength: 1, maxLength: 3 }).map((reasoning_content): JsonObject => ({ reasoning_content })),
      fc.string({ minLength: 1, maxLength: 3 }).map((content): JsonObject => ({ content })),
      fc.nat(2).map((index): JsonObject => ({
        tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name: 'f', arguments: '' } }],
      })),
    );
    fc.assert(
      fc.property(fc.array(delta, { maxLength: 12 }), (deltas) => {
        const lines = [
          ...deltas.map((one) => ({ index: 0, delta: one })),
          { index: 0, delta: {}, finish_reason: 'stop' },
        ];
        const decoder = chat.decodeStream(replyOf(OWN), noLosses());
        const bytes = lines.map((choice) => `data: ${JSON.stringify({ id: 'c', choices: [choice] })}\n\n`).join('');
        const events = [...decoder.push(Buffer.from(bytes)), ...decoder.end()];
        const { parts } = fold(events).choices[0]!;
        const thoughts = parts.filter((part) => part.type === 'thinking');
        expect(thoughts.map(({ text }) => text).join('')).toBe(
          deltas.map((one) => one.reasoning_content ?? '').join(''),
        );
        expect(thoughts.every(({ signature }) => signature === 'reasoning_content')).toBe(true);
        expect(events.filter(({ type }) => type === 'signature')).toHaveLength(thoughts.length);
        const reply = encoded('anthropic-messages', events) as { content: JsonObject[] };
        const shown = reply.content.filter(({ type }) => type === 'thinking').map(({ thinking }) => thinking);
        expect(shown).toEqual(thoughts.map(({ text }) => text));
      }),
    );
  });
});
