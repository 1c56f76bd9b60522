import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import type { GenerationEvent } from '../events.ts';
import { clientContext, deepFreeze, replyContext, replyWith } from '../contexts.testkit.ts';
import { decodeAll } from '../laws.testkit.ts';
import { fold } from '../streams/fold.ts';
import { hasCorpus, recorded } from './corpus.testkit.ts';
import { anthropicMessages as format } from './index.ts';

const place = { choice: 0, block: 0 };

/** The SDK reads our bytes as it would read Anthropic's: an injected transport, no socket. */
async function readWithSdk(sse: string) {
  const client = new Anthropic({
    apiKey: 'test',
    maxRetries: 0,
    fetch: async () => new Response(sse, { headers: { 'content-type': 'text/event-stream' } }),
  });
  const stream = client.messages.stream({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] });
  return stream.finalMessage();
}

function encodeStream(events: readonly GenerationEvent[]): string {
  return format.encodeStream(clientContext()).push(deepFreeze(events));
}

const answer: readonly GenerationEvent[] = [
  { type: 'start', id: 'msg_1', model: 'gemini-3' },
  { type: 'thinking', ...place, text: 'Let me ' },
  { type: 'thinking', ...place, text: 'see.' },
  { type: 'signature', ...place, signature: 'c2ln' },
  { type: 'text', choice: 0, block: 1, text: 'It is ' },
  { type: 'text', choice: 0, block: 1, text: 'warm.' },
  { type: 'tool_call', choice: 0, block: 2, call: 0, id: 'call_1', name: 'weather' },
  { type: 'tool_arguments', choice: 0, call: 0, text: '{"city":' },
  { type: 'tool_arguments', choice: 0, call: 0, text: '"Rome"}' },
  { type: 'tool_call', choice: 0, block: 3, call: 1, id: 'call_2', name: 'now' },
  { type: 'usage', usage: { input: 30, output: 9, total: 39, cacheRead: 10, cacheWrite: 5, reasoning: 4 } },
  { type: 'finish', choice: 0, reason: 'tool_calls' },
  { type: 'end' },
];

describe('thousands of calls that wait behind one without arguments', () => {
  const calls = 20_000;
  const events: readonly GenerationEvent[] = [
    ...Array.from({ length: calls }, (_, call): GenerationEvent[] => [
      { type: 'tool_call', choice: 0, block: call, call, id: `call_${call}`, name: 'f' },
      { type: 'tool_arguments', choice: 0, call, text: call === 0 ? '' : '{}' },
    ]).flat(),
    { type: 'finish', choice: 0, reason: 'tool_calls' },
    { type: 'end' },
  ];

  it('each get a block of a plain reply, and of a stream', () => {
    const { content } = replyWith(format, events, clientContext()) as { content: readonly unknown[] };
    expect(content).toHaveLength(calls);
    expect(encodeStream(events).match(/event: content_block_stop/g)).toHaveLength(calls);
  });
});

it('a text is the last block: its signature is written only before another one', () => {
  const signed: GenerationEvent[] = [
    { type: 'text', ...place, text: 'Warm.' },
    { type: 'signature', ...place, signature: 'c2ln' },
  ];
  const end: GenerationEvent[] = [{ type: 'finish', choice: 0, reason: 'stop' }, { type: 'end' }];
  const typesOf = (events: readonly GenerationEvent[]) =>
    (replyWith(format, events, clientContext()) as { content: { type: string }[] }).content.map(({ type }) => type);
  expect(typesOf([...signed, ...end])).toEqual(['text']);
  const call: GenerationEvent = { type: 'tool_call', choice: 0, block: 1, call: 0, id: 'call_1', name: 'f' };
  expect(typesOf([...signed, call, ...end])).toEqual(['text', 'thinking', 'tool_use']);
});

describe('a thought of which the client wants the signature alone', () => {
  const client = { ...clientContext(), hideThoughts: true, signsHidden: true };
  const said = (maker: 'claude' | 'gemini', ...texts: readonly string[]): GenerationEvent[] => [
    ...texts.map((text): GenerationEvent => ({ type: 'thinking', ...place, text })),
    { type: 'signature', ...place, signature: 'c2ln', maker },
    { type: 'text', choice: 0, block: 1, text: 'Warm.' },
    { type: 'finish', choice: 0, reason: 'stop' },
    { type: 'end' },
  ];

  it.each([
    ['without text, as Claude writes it', 'claude', [''], { text: '', signature: 'c2ln' }],
    ['with text', 'claude', ['Let ', 'me.'], { text: 'Let me.', signature: 'c2ln' }],
    ['of another maker', 'gemini', ['Let me.'], { text: 'Let me.', signature: 'c2ln', maker: 'gemini' }],
  ] as const)('is a block without text, and comes back whole: %s', async (_, maker, texts, thought) => {
    const events = said(maker, ...texts);
    const reply = replyWith(format, events, client) as { content: { type: string; thinking?: string }[] };
    expect(reply.content.map(({ type, thinking }) => [type, thinking])).toEqual([
      ['thinking', ''],
      ['text', undefined],
    ]);
    expect((await readWithSdk(format.encodeStream(client).push(events))).content).toEqual(reply.content);
    const { turns } = format.decodeRequest({
      model: 'm',
      max_tokens: 1,
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: reply.content },
        { role: 'user', content: 'and now?' },
      ],
    });
    expect(turns[1]?.parts[0]).toMatchObject({ type: 'thinking', ...thought });
  });

  it('has no block without a signature', () => {
    const events = said('claude', 'Let me.').filter(({ type }) => type !== 'signature');
    const { content } = replyWith(format, events, client) as { content: readonly object[] };
    expect(content).toHaveLength(1);
  });
});

describe('encodeStream', () => {
  it('writes a stream that the Anthropic SDK assembles to the plain reply', async () => {
    const message = await readWithSdk(encodeStream(answer));
    expect(message).toMatchObject({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'gemini-3',
      content: [
        { type: 'thinking', thinking: 'Let me see.', signature: 'c2ln' },
        { type: 'text', text: 'It is warm.' },
        { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Rome' } },
        { type: 'tool_use', id: 'call_2', name: 'now', input: {} },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 15, output_tokens: 9, cache_read_input_tokens: 10, cache_creation_input_tokens: 5 },
    });
    const plain = replyWith(format, answer, clientContext());
    expect(JSON.parse(JSON.stringify(message.content))).toEqual(plain.content);
    expect(plain).toMatchObject({ stop_reason: 'tool_use', stop_details: null, usage: { input_tokens: 15 } });
  });

  it('starts with message_start and a ping, in events that name themselves', () => {
    const names = encodeStream(answer)
      .split('\n\n')
      .map((record) => /^event: (\w+)\ndata: \{"type":"(\w+)"/.exec(record)?.slice(1));
    expect(names.slice(0, 3)).toEqual([
      ['message_start', 'message_start'],
      ['ping', 'ping'],
      ['content_block_start', 'content_block_start'],
    ]);
    expect(names.slice(-3)).toEqual([['message_delta', 'message_delta'], ['message_stop', 'message_stop'], undefined]);
  });

  it('gives a reply without content one empty text block', () => {
    const empty: GenerationEvent[] = [
      { type: 'start' },
      { type: 'finish', choice: 0, reason: 'stop' },
      { type: 'end' },
    ];
    expect(encodeStream(empty)).toContain('"content_block":{"type":"text","text":""}');
    expect(replyWith(format, empty, clientContext({ id: 'msg_x', model: 'm' }))).toMatchObject({
      id: 'msg_x',
      model: 'm',
      content: [{ type: 'text', text: '' }],
      stop_reason: 'end_turn',
    });
  });

  it('stops without message_stop at an error, which the caller writes so that the SDK throws it', async () => {
    const broken = encodeStream([
      { type: 'start' },
      { type: 'text', ...place, text: 'half' },
      { type: 'error', failure: { status: 529, message: 'busy' } },
      { type: 'text', ...place, text: 'more' },
    ]);
    expect(broken).not.toContain('message_stop');
    expect(broken).not.toContain('more');
    const error = format.encodeStreamError({
      status: 529,
      message: 'busy',
      type: 'overloaded_error',
      code: null,
      param: null,
      requestId: 'req_1',
    });
    await expect(readWithSdk(broken + error)).rejects.toMatchObject({ type: 'overloaded_error' });
  });

  it('carries a thought signature of a call in its id and reads it back from the next request', () => {
    const signed: GenerationEvent[] = [
      { type: 'tool_call', ...place, call: 0, id: 'call_1', name: 'f', signature: 'ab+/Zg==' },
      { type: 'tool_arguments', choice: 0, call: 0, text: '{}' },
      { type: 'finish', choice: 0, reason: 'tool_calls' },
      { type: 'end' },
    ];
    const { content } = replyWith(format, signed, clientContext());
    const id = 'call_1__thought__ab-_Zg';
    expect(content).toMatchObject([{ type: 'tool_use', id }]);
    const { turns } = format.decodeRequest({
      model: 'm',
      messages: [
        { role: 'assistant', content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
      ],
    });
    expect(turns[0]?.parts[0]).toMatchObject({ id: 'call_1', signature: 'ab+/Zg==' });
    expect(turns[1]?.parts[0]).toMatchObject({ callId: 'call_1' });
  });

  it('reports a refusal with its explanation', () => {
    const refused: GenerationEvent[] = [
      { type: 'refusal', choice: 0, text: 'I ' },
      { type: 'refusal', choice: 0, text: 'cannot.' },
      { type: 'finish', choice: 0, reason: 'stop' },
      { type: 'end' },
    ];
    expect(replyWith(format, refused, clientContext())).toMatchObject({
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: null, explanation: 'I cannot.' },
    });
  });

  it('writes late fields where the SDK reads them: the container in the delta, context management beside it', async () => {
    const late = { container: { id: 'c', expires_at: 'x' }, context_management: { applied_edits: [] } };
    const events = format.decodeReply({ content: [], stop_reason: 'end_turn', ...late }, replyContext());
    const wire = encodeStream(events);
    const data = /event: message_delta\ndata: (.*)\n/.exec(wire)?.[1] ?? '';
    expect(JSON.parse(data)).toMatchObject({
      delta: { container: late.container },
      context_management: late.context_management,
    });
    expect(await readWithSdk(wire)).toMatchObject({ container: late.container });
    expect(replyWith(format, events, clientContext())).toMatchObject(late);
  });

  it('turns the citations of another provider into citations that are not sent to Claude again', () => {
    const cited: GenerationEvent[] = [
      { type: 'text', ...place, text: 'Rain.' },
      { type: 'citation', choice: 0, citation: { url: 'https://a.example/', title: 'A', start: 0, end: 5 } },
      { type: 'finish', choice: 0, reason: 'stop' },
      { type: 'end' },
    ];
    const { content } = replyWith(format, cited, clientContext());
    expect(content).toMatchObject([{ text: 'Rain.', citations: [{ url: 'https://a.example/', title: 'A' }] }]);
    const { turns } = format.decodeRequest({ model: 'm', messages: [{ role: 'assistant', content }] });
    expect(turns).toEqual([{ role: 'assistant', parts: [{ type: 'text', text: 'Rain.' }] }]);
  });
});

describe.skipIf(!hasCorpus)('recorded streams, decoded and encoded again', () => {
  const streams = recorded('anthropic', 'vertex-anthropic').flatMap(({ id, response_body: body }) =>
    typeof body === 'string' && body.split('event: message_start').length === 2 ? [{ id, body }] : [],
  );

  it('are equal in every block, citation, server tool result and reason', () => {
    for (const { id, body } of streams) {
      const events = decodeAll(format.decodeStream(replyContext()), [Buffer.from(body)]);
      const again = decodeAll(format.decodeStream(replyContext()), [Buffer.from(encodeStream(events))]);
      const said = (list: readonly GenerationEvent[]) => {
        const { choices, usage, id: reply, model } = fold(list);
        return { choices, usage, reply, model };
      };
      expect({ record: id, ...said(again) }).toEqual({ record: id, ...said(events) });
    }
    expect(streams.length).toBeGreaterThan(100);
  });

  it('are assembled by the Anthropic SDK to the same message as the recording', async () => {
    for (const { body } of streams) {
      if (!body.includes('event: message_stop')) continue;
      const events = decodeAll(format.decodeStream(replyContext()), [Buffer.from(body)]);
      const [mine, theirs] = await Promise.all([readWithSdk(encodeStream(events)), readWithSdk(body)]);
      expect(comparable(mine.content)).toEqual(comparable(theirs.content));
      expect(mine.stop_reason).toBe(theirs.stop_reason);
      expect(mine.usage.output_tokens).toBe(theirs.usage.output_tokens);
    }
  });
});

/** Decoding leaves out empty text blocks and fields that are null by default. */
function comparable(content: readonly object[]): unknown {
  const plain = JSON.parse(JSON.stringify(content)) as Record<string, unknown>[];
  return plain
    .filter((block) => block.type !== 'text' || block.text !== '')
    .map((block) => {
      const { caller: _, citations, ...others } = block;
      return { ...others, ...(Array.isArray(citations) && citations.length > 0 && { citations }) };
    });
}
