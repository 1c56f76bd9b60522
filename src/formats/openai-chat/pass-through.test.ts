import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import { fold } from '../streams/fold.ts';
import type { PassThrough } from '../format.ts';
import { clientContext, replyContext, requestTarget } from '../contexts.testkit.ts';
import { decodeAll, rechunk } from '../laws.testkit.ts';
import { generation, seed, toEvents } from '../generations.testkit.ts';
import { MAX_EVENT_BYTES } from '../sse/held-bytes.ts';
import { openaiChat } from './index.ts';

const frame = { id: 'chatcmpl-9', object: 'chat.completion.chunk', created: 1, model: 'gpt-ran' };
const line = (chunk: unknown) => `data: ${JSON.stringify(chunk)}\n\n`;
const event = (delta: JsonObject, rest: JsonObject = {}) =>
  line({ ...frame, choices: [{ index: 0, delta, finish_reason: null }], ...rest });
const finish = (reason: string, index = 0) =>
  line({ ...frame, choices: [{ index, delta: {}, finish_reason: reason }] });
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const usageChunk = line({ ...frame, choices: [], usage });
const DONE = 'data: [DONE]\n\n';
const role = event({ role: 'assistant', content: '' });
const hello = event({ content: 'Hello' });

const asking = clientContext({ includeUsage: true });
const notAsking = clientContext({ includeUsage: false });

function pass(reader: PassThrough, pieces: readonly Buffer[]): string {
  const out = [...pieces.map((piece) => reader.push(piece)), reader.end()];
  return Buffer.concat(out.filter((piece) => piece !== undefined)).toString('utf8');
}

/** The bytes that are sent and the signals, checked to be the same for every cut of the bytes in two. */
function passed(text: string, client = notAsking) {
  const bytes = Buffer.from(text);
  const whole = openaiChat.passThrough.open(client, true);
  const left = pass(whole, [bytes]);
  for (let at = 1; at < bytes.length; at += 1) {
    const reader = openaiChat.passThrough.open(client, true);
    expect(pass(reader, [bytes.subarray(0, at), bytes.subarray(at)])).toBe(left);
    expect(reader.signals).toEqual(whole.signals);
  }
  const single = openaiChat.passThrough.open(client, true);
  expect(
    pass(
      single,
      [...bytes].map((byte) => Buffer.of(byte)),
    ),
  ).toBe(left);
  expect(single.signals).toEqual(whole.signals);
  return { left, signals: whole.signals };
}

describe('a stream that is whole', () => {
  const body = role + hello + event({ content: ', wörld 🙂' }) + finish('stop');

  it('is sent unchanged, with its usage, to a client that requested usage', () => {
    const { left, signals } = passed(body + usageChunk + DONE, asking);
    expect(left).toBe(body + usageChunk + DONE);
    expect(signals).toEqual({
      content: true,
      answered: true,
      output: true,
      blocked: false,
      progress: 6,
      text: 0,
      usage: { input: 3, output: 2, total: 5 },
      finish: 'stop',
      nativeFinish: undefined,
      model: 'gpt-ran',
      failure: undefined,
      ended: true,
    });
  });

  it('is sent without the usage chunk to a client that did not request it, and the gateway still counts it', () => {
    const { left, signals } = passed(body + usageChunk + DONE);
    expect(left).toBe(body + DONE);
    expect(signals).toMatchObject({ usage: { input: 3, output: 2, total: 5 }, ended: true });
  });

  it.each([
    ['at the end', `,"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}],"usage":null}`],
    ['before the choices', `,"usage":null,"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}`],
    ['with spaces', `, "choices":[{"index":0,"delta":{"content":"x"}}] , "usage" : null }`],
  ])('loses "usage":null %s, and nothing else, for a client that did not request usage', (_title, rest) => {
    const chunk = `data: {"id":"c","model":"m"${rest}\n\n`;
    const { left } = passed(chunk + finish('stop') + DONE);
    const [first, ...others] = left.split('\n\n');
    const { usage: _, ...expected } = JSON.parse(chunk.slice(6)) as JsonObject;
    expect(JSON.parse(first!.slice(6))).toEqual(expected);
    expect(`${others.join('\n\n')}`).toBe(finish('stop') + DONE);
    expect(passed(chunk + finish('stop') + DONE, asking).left).toBe(chunk + finish('stop') + DONE);
  });

  it('loses usage beside a finish reason, but not the finish reason', () => {
    const last = line({ ...frame, choices: [{ index: 0, delta: {}, finish_reason: 'length' }], usage });
    const { left, signals } = passed(hello + last + DONE);
    expect(left).toBe(hello + finish('length') + DONE);
    expect(signals).toMatchObject({ usage: { input: 3, output: 2, total: 5 }, finish: 'length' });
  });

  it('keeps the last count of a server that counts in every chunk', () => {
    const counting = (content: string, n: number) =>
      event({ content }, { usage: { prompt_tokens: 3, completion_tokens: n, total_tokens: 3 + n } });
    const { left, signals } = passed(counting('a', 1) + counting('b', 2) + finish('stop') + DONE);
    expect(left).toBe(event({ content: 'a' }) + event({ content: 'b' }) + finish('stop') + DONE);
    expect(signals.usage).toEqual({ input: 3, output: 2, total: 5 });
  });

  it('removes the usage chunk even when it has no counts', () => {
    expect(passed(hello + finish('stop') + line({ ...frame, choices: [], usage: {} }) + DONE).left).toBe(
      hello + finish('stop') + DONE,
    );
  });

  it('keeps Azure’s first chunk, which has no choices and no usage', () => {
    const filters = line({ choices: [], id: '', model: '', object: '', prompt_filter_results: [{ prompt_index: 0 }] });
    const { left, signals } = passed(filters + body + DONE);
    expect(left).toBe(filters + body + DONE);
    expect(signals.model).toBe('gpt-ran');
  });

  it('keeps comments, CRLF and unknown fields', () => {
    const text = `: ping\r\n\r\n${role}: keep-alive\n\nid: 7\nretry: 5\n${hello}${finish('stop')}${DONE}`.replaceAll(
      '\n\n',
      '\r\n\r\n',
    );
    const { left, signals } = passed(text);
    expect(left).toBe(text);
    expect(signals).toMatchObject({ content: true, ended: true, progress: 4 });
  });

  it('removes a byte order mark, which hides the first event from some clients', () => {
    const text = `\uFEFF${event({ content: 'x' }, { usage: null })}${finish('stop')}${DONE}`;
    const { left, signals } = passed(text);
    expect(left).toBe(`${event({ content: 'x' })}${finish('stop')}${DONE}`);
    expect(signals).toMatchObject({ content: true, ended: true, progress: 3 });
  });

  it('ends at [DONE] after any field, and nothing follows', () => {
    for (const done of [DONE, 'data:[DONE]\n\n', 'event: end\ndata: [DONE]\n\n', 'id: 9\ndata: [DONE]\n\n']) {
      const { left, signals } = passed(`${body}${done}${hello}: late\n\n`);
      expect(left).toBe(body + done);
      expect(signals.ended).toBe(true);
    }
  });

  it('leaves JSON over several data lines unchanged', () => {
    const lines =
      'data: {"model":"m",\ndata: "choices":[{"index":0,"delta":{"content":"x"}}],\ndata: "usage": null\ndata: }\n\n';
    const { left, signals } = passed(lines + finish('stop') + DONE);
    expect(left).toBe(lines + finish('stop') + DONE);
    expect(signals).toMatchObject({ content: true, model: 'm' });
  });
});

describe('markers inside the text of a message', () => {
  const marked = [
    '"usage":null,"finish_reason":"stop"',
    '\n\ndata: [DONE]\n\n',
    '{"error":{"message":"not one"}}',
    '","usage":{"prompt_tokens":1}}',
    'event: error\ndata: {"error":1}',
    '\\"usage\\": null',
    '"index":1',
  ];

  it.each(marked)('mean nothing: %j', (text) => {
    for (const delta of [
      { content: text },
      { refusal: text },
      { tool_calls: [{ index: 0, function: { arguments: text } }] },
    ]) {
      const stream = role + hello + event(delta) + event(delta);
      const { left, signals } = passed(stream + finish('stop') + DONE);
      expect(left).toBe(stream + finish('stop') + DONE);
      expect(signals).toMatchObject({ usage: undefined, failure: undefined, finish: 'stop', ended: true });
      expect(passed(stream).signals).toMatchObject({ finish: undefined, ended: false });
    }
  });

  it('mean nothing as keys further down', () => {
    const nested = event({ content: 'x', meta: { error: { message: 'old' }, usage: { a: 1 }, finish_reason: 'no' } });
    const { left, signals } = passed(hello + nested + finish('stop') + DONE);
    expect(left).toBe(hello + nested + finish('stop') + DONE);
    expect(signals).toMatchObject({ failure: undefined, usage: undefined });
  });
});

describe('a stream that fails', () => {
  it.each([
    ['OpenAI’s', line({ error: { message: 'Busy.', type: 'server_error', code: 'overloaded' } }), 503, 'Busy.'],
    ['a bare text', line({ error: 'Busy.' }), 502, 'Busy.'],
    ['true', line({ error: true }), 502, 'The upstream reported an error without a message.'],
    ['a list of one', line([{ error: { code: 429, message: 'Quota.' } }]), 429, 'Quota.'],
    ['an event of that name', 'event: error\ndata: {"message":"Busy."}\n\n', 502, 'Busy.'],
    ['the name after the data', 'data: {"message":"Busy."}\nevent: error\n\n', 502, 'Busy.'],
    ['beside choices', line({ ...frame, choices: [], error: { message: 'Busy.', code: 500 } }), 500, 'Busy.'],
    ['no JSON', 'data: <html>\n\n', 502, 'The upstream sent an event that is not JSON.'],
  ])('reports the error (%s) and sends neither it nor anything after it', (name, error, status, message) => {
    // Before content and after it, when only the rare events are parsed.
    for (const before of [role, role + hello]) {
      if (name === 'no JSON' && before !== role) continue;
      const { left, signals } = passed(before + error + hello + finish('stop') + DONE);
      expect(left).toBe(before);
      expect(signals).toMatchObject({ failure: { status, message }, ended: false, finish: undefined });
    }
  });

  it.each([
    ['in the middle', role + hello],
    [
      'after one of two choices',
      hello + line({ ...frame, choices: [{ index: 1, delta: { content: 'b' } }] }) + finish('stop'),
    ],
    ['before anything', ''],
    ['after a comment', ': ping\n\n'],
    ['without a choice', usageChunk],
  ])('is interrupted when it closes %s', (_title, text) => {
    const { left, signals } = passed(text, asking);
    expect(left).toBe(text);
    expect(signals).toMatchObject({ ended: false, failure: { status: 502, kind: 'stream_interrupted' } });
  });

  it('never sends half an event', () => {
    const whole = role + hello + event({ content: 'more' });
    for (let at = (role + hello).length; at < whole.length - 2; at += 1) {
      const reader = openaiChat.passThrough.open(asking, true);
      expect(pass(reader, [Buffer.from(whole.slice(0, at))])).toBe(role + hello);
      expect(reader.signals.failure).toMatchObject({ kind: 'stream_interrupted' });
    }
  });

  it.each(['<html>Bad gateway</html>', '{"choices":[{"index":0,"delta":{"content":"hal', 'oops'])(
    'fails at data no client can read, and lets nothing of it leave: %s',
    (data) => {
      const { left, signals } = passed(`${role}${hello}data: ${data}\n\n${hello}${finish('stop')}${DONE}`);
      expect(left).toBe(role + hello);
      expect(signals).toMatchObject({ ended: false, failure: { status: 502, kind: 'unreadable_reply' } });
    },
  );

  it('fails at [DONE] without an answer', () => {
    const { left, signals } = passed(DONE);
    expect(left).toBe('');
    expect(signals).toMatchObject({ ended: false, failure: { kind: 'stream_interrupted' } });
  });

  it('fails on an event larger than the limit', () => {
    const reader = openaiChat.passThrough.open(asking, true);
    expect(reader.push(Buffer.from(hello))?.toString()).toBe(hello);
    reader.push(Buffer.from('data: '));
    expect(reader.push(Buffer.alloc(MAX_EVENT_BYTES, 'x'))).toBeUndefined();
    expect(reader.signals.failure).toMatchObject({ status: 502, kind: 'reply_too_large' });
    expect(reader.push(Buffer.from(DONE))).toBeUndefined();
    expect(reader.end()).toBeUndefined();
  });
});

describe('a stream that closes without [DONE]', () => {
  it('is complete when every choice has finished, and gets the [DONE] its client waits for', () => {
    const { left, signals } = passed(role + hello + finish('stop'));
    expect(left).toBe(role + hello + finish('stop') + DONE);
    expect(signals).toMatchObject({ ended: true, failure: undefined });
  });

  it('gives its last event the missing blank line', () => {
    for (const missing of [1, 2]) {
      const { left, signals } = passed((role + hello + finish('stop')).slice(0, -missing), asking);
      expect(left.replaceAll(/\n{2,}/g, '\n\n')).toBe(role + hello + finish('stop') + DONE);
      expect(signals.ended).toBe(true);
    }
    expect(passed((hello + finish('stop') + DONE).slice(0, -2)).signals.ended).toBe(true);
  });

  it('does not take an empty finish reason for one', () => {
    const open = line({ ...frame, choices: [{ index: 0, delta: { content: 'x' }, finish_reason: '' }] });
    expect(passed(open).signals).toMatchObject({
      finish: undefined,
      ended: false,
      failure: { kind: 'stream_interrupted' },
    });
    expect(passed(open + finish('length')).signals).toMatchObject({ finish: 'length', ended: true });
  });
});

describe('content', () => {
  const first = (delta: JsonObject) => {
    const reader = openaiChat.passThrough.open(asking, true);
    reader.push(Buffer.from(role));
    expect(reader.signals.content).toBe(false);
    reader.push(Buffer.from(event(delta)));
    return reader.signals.content;
  };

  it.each<[string, JsonObject, boolean]>([
    ['text', { content: 'x' }, true],
    ['text in parts', { content: [{ type: 'text', text: 'x' }] }, true],
    ['reasoning', { reasoning_content: 'x' }, true],
    ['reasoning by its other name', { reasoning: 'x' }, true],
    ['a refusal', { refusal: 'x' }, true],
    ['the name of a tool', { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '' } }] }, true],
    ['the name of a custom tool', { tool_calls: [{ index: 0, custom: { name: 'f' } }] }, true],
    ['the deprecated call', { function_call: { name: 'f' } }, true],
    ['blocks', { content_blocks: [{ index: 0, delta: { thinking: 'x' } }] }, true],
    ['media', { content_parts: [{ type: 'image_url' }] }, true],
    ['sound', { audio: { data: 'AA==' } }, true],
    ['no text', { content: '' }, false],
    ['null', { content: null }, false],
    ['no blocks', { content_blocks: [] }, false],
    ['a call without a name', { tool_calls: [{ index: 0, function: { arguments: '{' } }] }, false],
  ])('begins with %s', (_title, delta, expected) => expect(first(delta)).toBe(expected));

  it('begins with a finish reason', () => {
    const reader = openaiChat.passThrough.open(asking, true);
    reader.push(Buffer.from(finish('length')));
    expect(reader.signals).toMatchObject({ content: true, answered: false, finish: 'length' });
  });

  it('does not begin when a filter stops one choice, since another choice may still answer', () => {
    const reader = openaiChat.passThrough.open(asking, true);
    reader.push(Buffer.from(finish('content_filter')));
    expect(reader.signals).toMatchObject({ content: false, blocked: true, finish: 'content_filter' });
    reader.push(Buffer.from(line({ ...frame, choices: [{ index: 1, delta: { content: 'x' }, finish_reason: null }] })));
    expect(reader.signals).toMatchObject({ content: true, blocked: false });
  });
});

it('has the signals of the decoder and keeps every byte, for any conversation', () => {
  const replies = generation({ choices: 2, refusal: true, cacheUsage: true });
  fc.assert(
    fc.property(replies, seed, fc.boolean(), (reply, cuts, includeUsage) => {
      const events = toEvents(reply, cuts);
      const bytes = Buffer.from(openaiChat.encodeStream(asking).push(events));
      const client = clientContext({ includeUsage });
      const reader = openaiChat.passThrough.open(client, true);
      const left = pass(reader, rechunk(bytes, cuts));
      // A client that did not request usage gets the same bytes as from the encoder.
      expect(left).toBe(openaiChat.encodeStream(client).push(events));
      const { usage, model } = fold(decodeAll(openaiChat.decodeStream(replyContext()), [bytes]));
      expect(reader.signals).toMatchObject({ usage, model, content: true, ended: true, failure: undefined });
    }),
  );
});

describe('a plain reply', () => {
  const plain = (text: string) => {
    const reader = openaiChat.passThrough.open(notAsking, false);
    const left = pass(reader, rechunk(Buffer.from(text), 3));
    return { left, signals: reader.signals };
  };
  const reply = {
    id: 'chatcmpl-9',
    model: 'gpt-ran',
    choices: [{ index: 0, message: { role: 'assistant', content: '"usage" 🙂', custom: 1 }, finish_reason: 'stop' }],
    usage,
    service_tier: 'flex',
  };

  it('is sent unchanged, with its signals', () => {
    const text = JSON.stringify(reply, undefined, 2);
    const { left, signals } = plain(text);
    expect(left).toBe(text);
    expect(signals).toMatchObject({
      content: true,
      usage: { input: 3, output: 2, total: 5 },
      finish: 'stop',
      model: 'gpt-ran',
      failure: undefined,
      ended: true,
    });
  });

  it.each([
    ['is cut', JSON.stringify(reply).slice(0, -1), { status: 502, kind: 'unreadable_reply' }],
    ['is empty', '', { status: 502, kind: 'unreadable_reply' }],
    ['is HTML', '<html></html>', { status: 502, kind: 'unreadable_reply' }],
    [
      'is another thing',
      '{"object":"list","data":[]}',
      { status: 502, message: expect.stringContaining('The reply is not a chat completion') },
    ],
    ['is an error in a 200', '{"error":{"message":"Busy.","code":429}}', { status: 429, message: 'Busy.' }],
  ])('is not sent when it %s', (_title, text, failure) => {
    const { left, signals } = plain(text);
    expect(left).toBe('');
    expect(signals).toMatchObject({ ended: false, failure });
  });
});

describe('an upstream that answers a request for a stream with plain JSON', () => {
  const body = {
    id: 'chatcmpl-1',
    created: 7,
    model: 'gpt-ran',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    usage,
  };

  it.each([
    ['in one line', JSON.stringify(body)],
    ['with an end of line', ` ${JSON.stringify(body)}\n`],
    ['over many lines', JSON.stringify(body, undefined, 2)],
  ])('is sent as the requested stream (%s)', (_title, text) => {
    const { left, signals } = passed(text, asking);
    expect(left).toContain('"created":7,"model":"gpt-ran","choices":[{"index":0,"delta":{"content":"Hello"}');
    expect(left).toContain('"choices":[],"usage":{"prompt_tokens":3,');
    expect(left.endsWith(DONE)).toBe(true);
    expect(signals).toMatchObject({ ended: true, content: true, finish: 'stop', model: 'gpt-ran' });
    expect(passed(text, notAsking).left).not.toContain('usage');
  });

  it.each([
    ['an error', '{"error":{"message":"Slow down.","code":429}}', { status: 429, message: 'Slow down.' }],
    ['an error in a list', '[{"error":{"message":"Slow down.","code":429}}]\n', { status: 429, message: 'Slow down.' }],
    ['something else', '{"object":"list"}', { status: 502, kind: 'unreadable_reply' }],
    ['a list of nothing', '[]', { status: 502, kind: 'unreadable_reply' }],
    ['half of it', '{"choices":[', { status: 502, kind: 'unreadable_reply' }],
  ])('fails with its own error when it is %s', (_title, text, failure) => {
    const { left, signals } = passed(text);
    expect(left).toBe('');
    expect(signals).toMatchObject({ ended: false, content: false, failure });
  });
});

it('reads an error in a list in place of a plain reply', () => {
  const reader = openaiChat.passThrough.open(notAsking, false);
  expect(pass(reader, [Buffer.from('[{"error":{"message":"No.","code":403,"status":"PERMISSION_DENIED"}}]')])).toBe('');
  expect(reader.signals.failure).toMatchObject({ status: 403, message: 'No.', kind: 'PERMISSION_DENIED' });
});

const view = (body: JsonObject) => ({ has: (key: string) => key in body, value: (key: string) => body[key] });
const edits = (body: JsonObject) => openaiChat.passThrough.edits(view(body), requestTarget({ model: 'gpt-x' }));
const model = { path: ['model'], value: 'gpt-x', source: 'gateway' };
const options = (value: JsonObject) => ({ path: ['stream_options'], value, source: 'gateway' });

describe('passThroughEdits', () => {
  it.each<[string, JsonObject, readonly unknown[]]>([
    ['nothing to do for a plain request to the same model', { model: 'gpt-x' }, []],
    ['the target’s own name of the model', { model: '@a/gpt-x', stream: false }, [model]],
    [
      'usage of a stream whose client says nothing',
      { model: 'gpt-x', stream: true },
      [options({ include_usage: true })],
    ],
    [
      'usage where the client sent null',
      { model: 'gpt-x', stream: true, stream_options: null },
      [options({ include_usage: true })],
    ],
    [
      'usage where the client declined it, its other options kept',
      { model: 'gpt-x', stream: true, stream_options: { include_usage: false, include_obfuscation: false } },
      [options({ include_usage: true, include_obfuscation: false })],
    ],
    [
      'nothing where the client asks for usage itself',
      { model: 'gpt-x', stream: true, stream_options: { include_usage: true } },
      [],
    ],
    ['both', { model: 'm', stream: true }, [model, options({ include_usage: true })]],
  ])('sets %s', (_title, body, expected) => {
    const before = JSON.stringify(body);
    expect(edits(body)).toEqual(expected);
    expect(JSON.stringify(body)).toBe(before);
  });

  it('requests no usage when the server refuses the option, and leaves the client’s own option unchanged', () => {
    const target = requestTarget({ model: 'gpt-x', streamUsage: false });
    const ask = (body: JsonObject) => openaiChat.passThrough.edits(view(body), target);
    expect(ask({ model: 'm', stream: true })).toEqual([model]);
    expect(ask({ model: 'gpt-x', stream: true, stream_options: { include_usage: true } })).toEqual([]);
  });
});
