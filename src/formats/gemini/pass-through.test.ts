import { describe, expect, it } from 'vitest';
import { clientContext } from '../contexts.testkit.ts';
import { passThrough, passThroughEdits } from './pass-through.ts';
import { toSse } from './stream.testkit.ts';

const client = clientContext();
const chunk = (text: string, more: object = {}) => ({
  candidates: [{ content: { parts: [{ text }] }, ...more }],
  modelVersion: 'm',
});
const text = toSse([
  chunk('a'),
  {
    ...chunk('b', { finishReason: 'STOP' }),
    usageMetadata: { promptTokenCount: 1, totalTokenCount: 2, candidatesTokenCount: 1 },
  },
]);

describe('a stream that is passed through', () => {
  it('is sent in complete events, with its signals', () => {
    const through = passThrough(client, true);
    const at = text.indexOf('\r\n\r\n') + 10;
    expect(through.push(Buffer.from(text.slice(0, at)))?.toString()).toBe(text.slice(0, at - 6));
    expect(through.signals).toMatchObject({ content: true, model: 'm', ended: false });
    expect(through.push(Buffer.from(text.slice(at)))?.toString()).toBe(text.slice(at - 6));
    expect(through.end()).toBeUndefined();
    expect(through.signals).toMatchObject({ ended: true, finish: 'stop', usage: { input: 1, output: 1, total: 2 } });
  });

  it('that is interrupted holds back the truncated event and fails', () => {
    const through = passThrough(client, true);
    const sent = Buffer.concat([through.push(Buffer.from(text.slice(0, -30)))!, through.end() ?? Buffer.alloc(0)]);
    expect(sent.toString()).toBe(toSse([chunk('a')]));
    expect(through.signals).toMatchObject({ ended: false, failure: { kind: 'stream_interrupted' } });
  });

  it('gives a last event the missing blank line', () => {
    const through = passThrough(client, true);
    const bare = text.trimEnd();
    expect(Buffer.concat([through.push(Buffer.from(bare))!, through.end()!]).toString()).toBe(text);
    expect(through.signals.ended).toBe(true);
  });

  const failing: readonly (readonly [string, string, object])[] = [
    ['an error of the upstream', toSse([{ error: { code: 503, message: 'm' } }]), { status: 503 }],
    ['an error in a list', toSse([[{ error: { code: 503, message: 'm' } }]]), { status: 503 }],
    ['an event that is no JSON', 'data: {"candidates"\n\n', { status: 502, kind: 'unreadable_reply' }],
    ['an event that is no reply', 'data: 1\r\n\r\n', { status: 502, kind: 'unreadable_reply' }],
  ];

  it.each(failing)('ends before %s, which the caller renders', (_, event, failure) => {
    const through = passThrough(client, true);
    const before = `${toSse([chunk('é')])}`;
    expect(through.push(Buffer.from(before + event + toSse([chunk('b')])))?.toString()).toBe(before);
    expect(through.push(Buffer.from(toSse([chunk('c', { finishReason: 'STOP' })])))).toBeUndefined();
    expect(through.end()).toBeUndefined();
    expect(through.signals).toMatchObject({ ended: false, failure, content: true, finish: undefined });
  });

  it.each(failing)('that begins with %s gives no bytes and shows no content', (_, event, failure) => {
    const through = passThrough(client, true);
    expect(through.push(Buffer.from(event + toSse([chunk('a')])))).toBeUndefined();
    expect(through.end()).toBeUndefined();
    expect(through.signals).toMatchObject({ ended: false, failure, content: false });
  });

  it('ends before a last event that is an error without its blank line', () => {
    const through = passThrough(client, true);
    const event = toSse([{ error: { code: 500, message: 'm' } }]).trimEnd();
    expect(through.push(Buffer.from(toSse([chunk('a')]) + event))?.toString()).toBe(toSse([chunk('a')]));
    expect(through.end()).toBeUndefined();
    expect(through.signals).toMatchObject({ ended: false, failure: { status: 500 } });
  });

  it('that is an array ends before the element that is an error', () => {
    const through = passThrough(client, true);
    const good = `[${JSON.stringify(chunk('a'))}`;
    const bytes = Buffer.from(`${good},\n${JSON.stringify({ error: { code: 500, message: 'm' } })}]`);
    expect(through.push(bytes)?.toString()).toBe(toSse([chunk('a')]));
    expect(through.end()).toBeUndefined();
    expect(through.signals).toMatchObject({ ended: false, failure: { status: 500 } });
  });

  it('that is an array becomes events, each on one line', () => {
    const through = passThrough(client, true);
    const last = chunk('b', { finishReason: 'STOP' });
    const array = `[${JSON.stringify(chunk('a'))}\r\n,\r\n${JSON.stringify(last, undefined, 2)}\r\n]`;
    const pieces = [...Buffer.from(array)].map((byte) => through.push(Buffer.from([byte])) ?? Buffer.alloc(0));
    const sent = Buffer.concat([...pieces, through.end() ?? Buffer.alloc(0)]).toString();
    const lines = sent.split('\r\n\r\n').filter(Boolean);
    expect(lines.map((line) => JSON.parse(line.replace(/^data: /, '')) as unknown)).toEqual([chunk('a'), last]);
    expect(sent).not.toMatch(/[^\r]\n|\n(?!data: |\r\n|$)/);
    expect(through.signals.ended).toBe(true);
  });
});

it('an array that begins with an error gives no bytes', () => {
  const through = passThrough(client, true);
  const bytes = Buffer.from(`[${JSON.stringify({ error: { code: 429, message: 'm' } })}]`);
  expect([...bytes].map((byte) => through.push(Buffer.from([byte]))).filter(Boolean)).toEqual([]);
  expect(through.end()).toBeUndefined();
  expect(through.signals).toMatchObject({ content: false, failure: { status: 429 } });
});

describe('a plain body that is passed through', () => {
  it('is sent whole, with its signals', () => {
    const through = passThrough(client, false);
    const body = JSON.stringify(chunk('é', { finishReason: 'MAX_TOKENS' }), null, 2);
    expect(through.push(Buffer.from(body).subarray(0, 50))).toBeUndefined();
    expect(through.push(Buffer.from(body).subarray(50))).toBeUndefined();
    expect(through.end()?.toString()).toBe(body);
    expect(through.signals).toMatchObject({ content: true, finish: 'length', ended: true });
  });

  it('that is an error gives no bytes', () => {
    const through = passThrough(client, false);
    through.push(Buffer.from(JSON.stringify({ error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED' } })));
    expect(through.end()).toBeUndefined();
    expect(through.signals).toMatchObject({ ended: false, failure: { status: 429 } });
  });

  it.each(['{"candidates":[', '{}', ''])('%j is a failure', (body) => {
    const through = passThrough(client, false);
    through.push(Buffer.from(body));
    expect(through.end()).toBeUndefined();
    expect(through.signals).toMatchObject({ ended: false, failure: { status: 502, kind: 'unreadable_reply' } });
  });
});

it('a body loses the fields that address the gateway', () => {
  const body: Record<string, unknown> = { contents: [], stream: true };
  const view = { has: (key: string) => key in body, value: (key: string) => body[key] };
  expect(passThroughEdits(view)).toEqual([{ path: ['stream'], value: undefined, source: 'gateway' }]);
});
