import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import { fold } from '../streams/fold.ts';
import { ReplyFault } from '../faults.ts';
import { decodeAll, expectOneTerminal, expectRechunkingKeepsEvents, rechunk } from '../laws.testkit.ts';
import { seed } from '../generations.testkit.ts';
import { deepFreeze, replyContext } from '../contexts.testkit.ts';
import { MAX_EVENT_BYTES } from '../sse/held-bytes.ts';
import { openaiChat } from './index.ts';
import { runs } from '../../../test/support/effort.ts';

const open = () => openaiChat.decodeStream(replyContext());
const line = (payload: unknown) => `data: ${JSON.stringify(payload)}\n\n`;
const DONE = 'data: [DONE]\n\n';
const chunk = (delta: JsonObject, rest: JsonObject = {}) =>
  line({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...rest }] });
const finish = (reason = 'stop') => chunk({}, { finish_reason: reason });

/** Events of a stream, checked to be the same for one piece and for single bytes. */
function decode(text: string): readonly GenerationEvent[] {
  const bytes = Buffer.from(text);
  const events = decodeAll(open(), [bytes]);
  expect(
    decodeAll(
      open(),
      [...bytes].map((byte) => Buffer.of(byte)),
    ),
  ).toEqual(events);
  expectOneTerminal(events);
  return events;
}

/** The events of a list of deltas, between `start` and `end`. */
const eventsOf = (...deltas: readonly JsonObject[]) =>
  decode(deltas.map((delta) => chunk(delta)).join('') + finish() + DONE).slice(1, -1);

const place = { choice: 0, block: 0 };
const stop = { type: 'finish', choice: 0, reason: 'stop' };

describe('deltas', () => {
  const call = (at: JsonObject) => ({ tool_calls: [at] });
  const started = (id: string, name: string, at: number) =>
    ({ type: 'tool_call', choice: 0, block: at, call: at, id, name }) as const;
  const args = (text: string, call = 0) => ({ type: 'tool_arguments', choice: 0, call, text });
  const calls = { ...stop, reason: 'tool_calls', native: 'stop' };

  it.each<[string, readonly JsonObject[], readonly unknown[]]>([
    [
      'text is one block until something else comes',
      [{ role: 'assistant', content: '' }, { content: 'a' }, { content: 'b' }, { content: null }],
      [{ type: 'text', ...place, text: 'a' }, { type: 'text', ...place, text: 'b' }, stop],
    ],
    [
      'reasoning by either name is thinking',
      [{ reasoning_content: 'h' }, { reasoning: 'm' }, { content: 'a' }],
      [
        { type: 'thinking', ...place, text: 'h' },
        { type: 'thinking', ...place, text: 'm' },
        { type: 'text', choice: 0, block: 1, text: 'a' },
        stop,
      ],
    ],
    [
      'Mistral’s content in parts is thinking and text',
      [
        { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'h' }] }] },
        {
          content: [
            { type: 'text', text: 'a' },
            { type: 'reference', reference_ids: [1] },
          ],
        },
      ],
      [{ type: 'thinking', ...place, text: 'h' }, { type: 'text', choice: 0, block: 1, text: 'a' }, stop],
    ],
    ['a refusal', [{ refusal: 'No.' }], [{ type: 'refusal', choice: 0, text: 'No.' }, stop]],
    [
      'calls, and a stop that is theirs',
      [
        call({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
        call({ index: 0, function: { arguments: '{"x"' } }),
        call({ index: 0, function: { arguments: ':1}' } }),
        call({ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } }),
      ],
      [started('a', 'f', 0), args('{"x"'), args(':1}'), started('b', 'g', 1), args('{}', 1), calls],
    ],
    ['a call without arguments', [call({ index: 0, id: 'a', function: { name: 'f' } })], [started('a', 'f', 0), calls]],
    [
      'arguments before the name are kept until it comes',
      [
        call({ index: 0, function: { arguments: '{' } }),
        call({ index: 0, id: 'a', function: { name: 'f', arguments: '}' } }),
      ],
      [started('a', 'f', 0), args('{}'), calls],
    ],
    [
      'an id where there is none',
      [call({ index: 0, function: { name: 'f', arguments: '{}' } })],
      [started(`call_${'0'.padStart(24, 'x')}`, 'f', 0), args('{}'), calls],
    ],
    [
      'calls without an index, told apart by their names',
      [
        call({ id: 'a', function: { name: 'f', arguments: '{' } }),
        call({ function: { arguments: '}' } }),
        call({ id: 'b', function: { name: 'f', arguments: '{}' } }),
      ],
      [started('a', 'f', 0), args('{'), args('}'), started('b', 'f', 1), args('{}', 1), calls],
    ],
    [
      'calls that all have index 0, told apart by their ids',
      [
        call({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
        call({ index: 0, id: 'b', function: { name: 'g', arguments: '{}' } }),
      ],
      [started('a', 'f', 0), args('{}'), started('b', 'g', 1), args('{}', 1), calls],
    ],
    [
      'a name in pieces',
      [
        call({ index: 0, id: 'a', function: { name: 'get_', arguments: '' } }),
        call({ index: 0, function: { name: 'weather' } }),
        call({ index: 0, function: { arguments: '{}' } }),
      ],
      [started('a', 'get_weather', 0), args('{}'), calls],
    ],
    [
      'a name in pieces, with arguments before it and none after it',
      [
        call({ index: 0, id: 'a', function: { arguments: '{}' } }),
        call({ index: 0, id: 'a', function: { name: 'get_' } }),
        call({ index: 0, id: 'a', function: { name: 'weather' } }),
      ],
      [started('a', 'get_weather', 0), args('{}'), calls],
    ],
    [
      'names in pieces of calls that take turns',
      [
        { tool_calls: [0, 1].map((index) => ({ index, id: 'ab'[index], function: { name: 'get_' } })) },
        { tool_calls: [0, 1].map((index) => ({ index, function: { name: 'xy'[index] } })) },
        call({ index: 1, function: { arguments: '{}' } }),
        call({ index: 0, function: { arguments: '{}' } }),
      ],
      [started('a', 'get_x', 0), started('b', 'get_y', 1), args('{}', 1), args('{}'), calls],
    ],
    [
      'an id and the name in every chunk, without an index',
      [
        call({ id: 'a', function: { name: 'f', arguments: '{' } }),
        call({ id: 'b', function: { name: 'f', arguments: '}' } }),
      ],
      [started('a', 'f', 0), args('{'), args('}'), calls],
    ],
    [
      'calls without ids that all have index 0',
      [
        call({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
        call({ index: 0, function: { name: 'g', arguments: '{}' } }),
      ],
      [started('a', 'f', 0), args('{}'), started(`call_${'0'.padStart(24, 'x')}`, 'g', 1), args('{}', 1), calls],
    ],
    [
      'a name in pieces without an index',
      [
        call({ id: 'a', function: { name: 'get_' } }),
        call({ id: 'a', function: { name: 'weather', arguments: '{}' } }),
      ],
      [started('a', 'get_weather', 0), args('{}'), calls],
    ],
    [
      'a name that every chunk repeats',
      [
        call({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }),
        call({ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }),
        call({ index: 0, id: 'a', function: { name: 'f', arguments: '}' } }),
      ],
      [started('a', 'f', 0), args('{'), args('}'), calls],
    ],
    [
      'a name before other content',
      [call({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }), { content: 'x' }],
      [started('a', 'f', 0), { type: 'text', choice: 0, block: 1, text: 'x' }, calls],
    ],
    [
      'an id for every chunk of one index',
      [
        call({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x":' } }),
        call({ index: 0, id: 'b', function: { arguments: '"}"' } }),
        call({ index: 0, id: 'c', function: { name: 'f', arguments: '}' } }),
      ],
      [started('a', 'f', 0), args('{"x":'), args('"}"'), args('}'), calls],
    ],
    [
      'calls of one function that all have index 0',
      [
        call({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
        call({ index: 0, id: 'b', function: { name: 'f', arguments: '{}' } }),
      ],
      [started('a', 'f', 0), args('{}'), started('b', 'f', 1), args('{}', 1), calls],
    ],
    [
      'arguments as an object',
      [call({ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } })],
      [started('a', 'f', 0), args('{"x":1}'), calls],
    ],
    [
      'a custom tool',
      [
        call({ index: 0, id: 'a', type: 'custom', custom: { name: 'sh', input: 'l' } }),
        call({ index: 0, custom: { input: 's' } }),
      ],
      [{ ...started('a', 'sh', 0), custom: true }, args('l'), args('s'), calls],
    ],
    [
      'Google’s signature on a call',
      [
        call({
          index: 0,
          id: 'a',
          function: { name: 'f', arguments: '{}' },
          extra_content: { google: { thought_signature: 'S' } },
        }),
      ],
      [{ ...started('a', 'f', 0), signature: 'S' }, args('{}'), calls],
    ],
    [
      'the deprecated function call',
      [{ function_call: { name: 'f', arguments: '{' } }, { function_call: { arguments: '}' } }],
      [{ ...started(`call_${'0'.padStart(24, 'x')}`, 'f', 0), legacy: true }, args('{'), args('}'), calls],
    ],
    [
      'citations of pages',
      [
        {
          annotations: [
            { type: 'url_citation', url_citation: { url: 'u', title: 't', start_index: 1, end_index: 2 } },
            { type: 'file_citation' },
          ],
        },
      ],
      [{ type: 'citation', choice: 0, citation: { url: 'u', title: 't', start: 1, end: 2 } }, stop],
    ],
    [
      'sound, joined, with its name, and its transcript as text that is apart from other text',
      [
        { content: 'So: ' },
        { audio: { id: 'x', transcript: 'Hi' } },
        { audio: { data: 'UklGRg==' } },
        { audio: { data: 'AAAA' } },
        { audio: { expires_at: 5 } },
      ],
      [
        { type: 'text', ...place, text: 'So: ' },
        { type: 'text', choice: 0, block: 1, text: 'Hi', spoken: true },
        {
          type: 'media',
          choice: 0,
          block: 2,
          mime: 'audio/wav',
          data: 'UklGRgAAAA==',
          stored: { id: 'x', expiresAt: 5 },
        },
        stop,
      ],
    ],
  ])('%s', (_title, deltas, expected) => expect(eventsOf(...deltas)).toEqual(expected));

  it.each([
    ['stop', 'stop', undefined],
    ['length', 'length', undefined],
    ['content_filter', 'content_filter', undefined],
    ['tool_calls', 'tool_calls', undefined],
    ['function_call', 'tool_calls', 'function_call'],
    ['eos', 'stop', 'eos'],
  ])('finish %s as %s', (word, reason, native) => {
    expect(decode(chunk({ content: 'a' }) + finish(word)).at(-2)).toEqual({
      type: 'finish',
      choice: 0,
      reason,
      ...(native && { native }),
    });
  });

  it('finish once, at the end, even when content follows the finish reason', () => {
    const events = decode(finish('length') + chunk({ content: 'late' }) + finish('stop') + DONE);
    expect(events.slice(1)).toEqual([
      { type: 'text', ...place, text: 'late' },
      { type: 'finish', choice: 0, reason: 'length' },
      { type: 'end' },
    ]);
  });

  it('of several choices finish each, in order', () => {
    const second = line({ choices: [{ index: 1, delta: { content: 'b' }, finish_reason: 'length' }] });
    const events = decode(second + chunk({ content: 'a' }) + finish() + DONE);
    expect(fold(events).choices.map(({ index, finish }) => [index, finish])).toEqual([
      [0, 'stop'],
      [1, 'length'],
    ]);
    expect(events.slice(-3).map((event) => event.type)).toEqual(['finish', 'finish', 'end']);
  });
});

describe('a call of a free-text tool that was sent as a function', () => {
  const call = (fields: JsonObject) => ({ tool_calls: [{ index: 0, ...fields }] });
  const called = { type: 'tool_call', choice: 0, block: 0, call: 0, id: 'a', name: 'sh', custom: true };
  const reply = { ...replyContext(), customTools: new Set(['sh']) };

  it.each([
    ['is its text', ['{"inp', 'ut":"ls', ' -l"}'], 'ls -l'],
    ['keeps arguments of another form', ['{"cmd"', ':"ls"}'], '{"cmd":"ls"}'],
    ['keeps arguments that were cut', ['{"input":"l'], '{"input":"l'],
  ])('%s', (_, pieces, text) => {
    const decoder = openaiChat.decodeStream(reply);
    const first = chunk(call({ id: 'a', function: { name: 'sh', arguments: '' } }));
    const rest = pieces.map((piece) => chunk(call({ function: { arguments: piece } })));
    const events = decoder.push(Buffer.from(first + rest.join('') + finish('tool_calls') + DONE));
    expect(events.slice(1, 3)).toEqual([called, { type: 'tool_arguments', choice: 0, call: 0, text }]);
  });
});

describe('the stream', () => {
  it('starts with id and model, which Azure’s first chunk lacks', () => {
    const filters = line({ id: '', model: '', choices: [], prompt_filter_results: [] });
    expect(decode(filters + chunk({ content: 'a' }) + finish() + DONE)[0]).toEqual({
      type: 'start',
      id: 'c',
      model: 'm',
    });
  });

  it('reports usage from any chunk', () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const seen = { input: 3, output: 2, total: 5 };
    for (const last of [
      line({ choices: [], usage }),
      line({ usage }),
      line({ choices: [], usage: null }) + line({ choices: [], usage }),
    ])
      expect(fold(decode(chunk({ content: 'a' }) + finish() + last + DONE)).usage).toEqual(seen);
    expect(
      fold(decode(chunk({ content: 'a' }) + finish() + line({ choices: [], usage: {} }) + DONE)).usage,
    ).toBeUndefined();
  });

  it.each(['flex', 'priority'])('reports the usage of the tier %s with it, since its price differs', (service_tier) => {
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const last = line({ choices: [], usage, service_tier });
    expect(fold(decode(chunk({ content: 'a' }) + finish() + last + DONE)).usage).toMatchObject({ tier: service_tier });
  });

  it('reads CRLF, comments, a byte order mark and JSON over several lines', () => {
    const text = `\uFEFF: hi\n\n${chunk({ content: 'a' })}data: {"choices":[{"index":0,\ndata: "delta":{"content":"b"}}]}\n\n${finish()}${DONE}`;
    const wanted = decode(text);
    expect(fold(wanted).choices[0]?.parts).toEqual([{ type: 'text', text: 'ab' }]);
    expect(decode(text.replaceAll('\n', '\r\n'))).toEqual(wanted);
  });

  it('that closes without [DONE] is complete when every choice has finished', () => {
    expect(decode(chunk({ content: 'a' }) + finish()).at(-1)).toEqual({ type: 'end' });
    expect(decode((chunk({ content: 'a' }) + finish()).trimEnd()).at(-1)).toEqual({ type: 'end' });
  });

  it.each([
    ['nothing', ''],
    ['only a comment', ': ping\n\n'],
    ['no finish', chunk({ content: 'a' })],
    ['an empty finish', chunk({ content: 'a' }, { finish_reason: '' })],
    [
      'a choice without a finish',
      chunk({ content: 'a' }) + line({ choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] }),
    ],
    ['half an event', chunk({ content: 'a' }) + finish().slice(0, 30)],
    ['[DONE] and no answer', DONE],
  ])('that holds %s is interrupted', (_title, text) => {
    expect(decode(text).at(-1)).toMatchObject({ type: 'error', failure: { status: 502, kind: 'stream_interrupted' } });
  });

  it.each<[string, string, object]>([
    [
      'OpenAI’s error',
      line({ error: { message: 'Busy.', type: 'server_error', param: null, code: 'overloaded' } }),
      { status: 503, message: 'Busy.', kind: 'server_error', code: 'overloaded' },
    ],
    ['a text', line({ error: 'Busy.' }), { status: 502, message: 'Busy.' }],
    [
      'no more than that',
      line({ error: 1 }),
      { status: 502, kind: 'unreadable_reply', message: 'The upstream reported an error without a message.' },
    ],
    [
      'Google’s list',
      line([{ error: { code: 429, message: 'Quota.', status: 'RESOURCE_EXHAUSTED' } }]),
      { status: 429, message: 'Quota.', kind: 'RESOURCE_EXHAUSTED' },
    ],
    ['an event of that name', 'event: error\ndata: {"message":"Busy."}\n\n', { status: 502, message: 'Busy.' }],
  ])('ends at an error (%s), and nothing follows', (_title, error, failure) => {
    const events = decode(chunk({ content: 'a' }) + error + chunk({ content: 'b' }) + finish() + DONE);
    expect(events.slice(1)).toEqual([
      { type: 'text', ...place, text: 'a' },
      { type: 'error', failure },
    ]);
  });

  it('with an event that is not JSON is unreadable, and nothing follows', () => {
    expect(decode(`${chunk({ content: 'a' })}data: {oops\n\n${chunk({ content: 'b' })}${DONE}`).slice(1)).toMatchObject(
      [
        { type: 'text', text: 'a' },
        { type: 'error', failure: { status: 502, kind: 'unreadable_reply' } },
      ],
    );
  });

  it('with more of the name of a call after its arguments is unreadable', () => {
    const piece = (name: string, args: string) =>
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name, arguments: args } }] });
    const end = finish('tool_calls') + DONE;
    expect(decode(piece('get_', '{') + piece('x', '}') + end).at(-1)).toMatchObject({
      failure: { status: 502, kind: 'unreadable_reply' },
    });
    expect(decode(piece('get_', '{') + piece('get_', '}') + end).at(-1)).toEqual({ type: 'end' });
  });

  it('with a call that has no name is unreadable', () => {
    const nameless = chunk({ tool_calls: [{ index: 0, id: 'a', function: { arguments: '{}' } }] });
    expect(decode(nameless + finish() + DONE).at(-1)).toMatchObject({
      type: 'error',
      failure: { kind: 'unreadable_reply' },
    });
  });

  it('with an event larger than the limit fails', () => {
    const decoder = open();
    decoder.push(Buffer.from('data: '));
    expect(decoder.push(Buffer.alloc(MAX_EVENT_BYTES, 'x'))).toMatchObject([
      { type: 'error', failure: { status: 502, kind: 'reply_too_large' } },
    ]);
    expect(decoder.end()).toEqual([]);
  });

  it('of arbitrary bytes ends once and never throws', () => {
    const payload = fc.oneof(
      fc.jsonValue(),
      fc.jsonValue().map((value) => ({ choices: value })),
      fc.jsonValue().map((value) => ({ choices: [value], usage: value })),
      fc
        .tuple(
          fc.constantFrom(
            'content',
            'tool_calls',
            'function_call',
            'audio',
            'annotations',
            'content_blocks',
            'content_parts',
            'refusal',
          ),
          fc.jsonValue(),
        )
        .map(([key, value]) => ({ choices: [{ index: 0, delta: { [key]: value } }] })),
      fc
        .tuple(fc.constantFrom('function', 'custom', 'id', 'index', 'extra_content'), fc.jsonValue())
        .map(([key, value]) => ({ choices: [{ index: 0, delta: { tool_calls: [{ [key]: value }] } }] })),
    );
    const record = fc.oneof(fc.string(), payload.map(line), fc.constantFrom(finish(), DONE, ': x\n\n'));
    fc.assert(
      fc.property(fc.array(record), seed, (records, cuts) => {
        const bytes = Buffer.from(records.join(''));
        expectOneTerminal(expectRechunkingKeepsEvents(open, bytes, cuts));
        // The pass-through applies the same rules to the same bytes.
        const reader = openaiChat.passThrough.open(
          { id: 'i', created: 1, strict: true, includeUsage: false, model: 'm' },
          true,
        );
        for (const piece of rechunk(bytes, cuts)) reader.push(piece);
        reader.end();
        expect(reader.signals.ended).toBe(reader.signals.failure === undefined);
      }),
      { numRuns: runs(300) },
    );
  });
});

it.each([
  ['an error', '{"error":{"message":"Slow down.","code":429}}', { status: 429, message: 'Slow down.' }],
  ['an error in a list, Google’s way', '[{\n"error":{"message":"Slow down.","code":429}}\n]\n', { status: 429 }],
  ['another document', '{"object":"list"}', { kind: 'stream_interrupted' }],
  ['half a document', '{"error":{"mess', { kind: 'stream_interrupted' }],
])('plain JSON in place of a stream is its failure: %s', (_title, text, failure) => {
  expect(decode(text)).toEqual([{ type: 'error', failure: expect.objectContaining(failure) }]);
});

describe('a plain reply', () => {
  const reply = (message: JsonObject, rest: JsonObject = {}) => ({
    id: 'c',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'stop', ...rest }],
  });
  const read = (body: unknown) => openaiChat.decodeReply(deepFreeze(body), replyContext());

  it('has a call for each item, whatever its arguments are', () => {
    const calls = [
      { id: 'a', type: 'custom', custom: { name: 'c', input: '\\"}' } },
      { id: 'b', type: 'custom', custom: { name: 'c', input: 'x' } },
      { index: 0, function: { name: 'f', arguments: '{"a' } },
      { index: 0, function: { name: 'f', arguments: '{}' } },
    ];
    const parts = fold(read(reply({ tool_calls: calls }))).choices[0]!.parts;
    expect(parts).toMatchObject(['\\"}', 'x', '{"a', '{}'].map((text) => ({ type: 'tool_call', arguments: text })));
  });

  it('decodes like a stream of one chunk', () => {
    const logprobs = {
      content: [
        { token: 'a', logprob: -1, bytes: [97], top_logprobs: [{ token: 'b', logprob: -2, bytes: null }] },
        { token: 'c', logprob: 0 },
      ],
      refusal: [{ token: 'n', logprob: -3, bytes: [110], top_logprobs: [] }],
    };
    expect(
      read({
        ...reply({ content: 'a', refusal: null }, { logprobs }),
        usage: {
          prompt_tokens: 1,
          completion_tokens: 2,
          total_tokens: 3,
          prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 0 },
          completion_tokens_details: { reasoning_tokens: 2 },
        },
      }),
    ).toEqual([
      { type: 'start', id: 'c', model: 'm' },
      { type: 'text', ...place, text: 'a' },
      {
        type: 'logprobs',
        choice: 0,
        tokens: [
          { token: 'a', logprob: -1, bytes: [97], top: [{ token: 'b', logprob: -2, bytes: null }] },
          { token: 'c', logprob: 0 },
        ],
      },
      { type: 'logprobs', choice: 0, tokens: [{ token: 'n', logprob: -3, bytes: [110] }], refusal: true },
      {
        type: 'usage',
        usage: { input: 1, output: 2, total: 3, cacheRead: 1, cacheWrite: 0, reasoning: 2 },
        raw: expect.objectContaining({ prompt_tokens: 1 }),
      },
      stop,
      { type: 'end' },
    ]);
  });

  it('keeps its creation time, and its fields that the conversation lacks', () => {
    const events = read({
      ...reply({ content: 'a' }, { content_filter_results: { hate: { filtered: false } }, stop_reason: null }),
      created: 7,
      object: 'chat.completion',
      service_tier: 'flex',
      error: null,
    });
    expect(events[0]).toEqual({
      type: 'start',
      id: 'c',
      model: 'm',
      created: 7,
      extras: { service_tier: 'flex' },
      extrasFormat: 'openai-chat',
    });
    expect(events.at(-3)).toEqual({
      type: 'opaque',
      choice: 0,
      block: 1,
      format: 'openai-chat',
      value: { content_filter_results: { hate: { filtered: false } } },
    });
  });

  it('reads content in parts, as Mistral sends it', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'h' }] },
      { type: 'text', text: 'a' },
    ];
    expect(fold(read(reply({ content }))).choices[0]?.parts).toEqual([
      { type: 'thinking', text: 'h' },
      { type: 'text', text: 'a' },
    ]);
  });

  it('with an error in a 200 becomes that error', () => {
    expect(read({ error: { message: 'Busy.', code: 429 } })).toEqual([
      { type: 'error', failure: { status: 429, message: 'Busy.' } },
    ]);
  });

  it.each([
    ['nothing', null],
    ['a list', []],
    ['another object', { object: 'list' }],
    ['no choices', { choices: [] }],
    ['a choice without a message', { choices: [{ index: 0 }] }],
    ['a call without a name', reply({ tool_calls: [{ id: 'a', function: { arguments: '{}' } }] })],
  ])('that holds %s is refused', (_title, body) => expect(() => read(body)).toThrow(ReplyFault));

  it('of any shape is read or refused, and never crashes the decoder', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (message, value) => {
        for (const body of [
          message,
          { choices: message },
          {
            choices: [
              {
                message: {
                  content: message,
                  tool_calls: value,
                  audio: value,
                  annotations: [value],
                  content_blocks: value,
                  content_parts: message,
                },
              },
            ],
            usage: value,
          },
        ]) {
          try {
            expectOneTerminal(read(body));
          } catch (error) {
            expect(error).toBeInstanceOf(ReplyFault);
          }
        }
      }),
    );
  });
});

it('reads empty thinking of another gateway as thinking when it is signed, in a stream and in a plain reply', () => {
  const stream = decode(
    chunk({ content_blocks: [{ index: 0, delta: { thinking: '' } }] }) +
      chunk({ content_blocks: [{ index: 0, delta: { signature: 'c2ln' } }] }) +
      finish() +
      DONE,
  );
  const message = { content: '', content_blocks: [{ type: 'thinking', thinking: '', signature: 'c2ln' }] };
  const body = { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] };
  for (const events of [stream, openaiChat.decodeReply(body, replyContext())]) {
    expect(fold(events).choices[0]?.parts).toEqual([{ type: 'thinking', text: '', signature: 'c2ln' }]);
  }
});
