import { describe, expect, it } from 'vitest';
import { clientContext } from '../laws.testkit.ts';
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
  it('leaves at whole events and shows what it holds', () => {
    const through = passThrough(client, true);
    const at = text.indexOf('\r\n\r\n') + 10;
    expect(through.push(Buffer.from(text.slice(0, at)))?.toString()).toBe(text.slice(0, at - 6));
    expect(through.signals).toMatchObject({ content: true, model: 'm', ended: false });
    expect(through.push(Buffer.from(text.slice(at)))?.toString()).toBe(text.slice(at - 6));
    expect(through.end()).toBeUndefined();
    expect(through.signals).toMatchObject({ ended: true, finish: 'stop', usage: { input: 1, output: 1, total: 2 } });
  });

  it('that is cut keeps the tail of the cut event back and says so', () => {
    const through = passThrough(client, true);
    const sent = Buffer.concat([through.push(Buffer.from(text.slice(0, -30)))!, through.end() ?? Buffer.alloc(0)]);
    expect(sent.toString()).toBe(toSse([chunk('a')]));
    expect(through.signals).toMatchObject({ ended: false, failure: { kind: 'stream_interrupted' } });
  });

  it('lets a last event without its blank line through', () => {
    const through = passThrough(client, true);
    const bare = text.trimEnd();
    expect(Buffer.concat([through.push(Buffer.from(bare))!, through.end()!]).toString()).toBe(bare);
    expect(through.signals.ended).toBe(true);
  });

  it('sees an error of the upstream, and keeps passing what comes', () => {
    const through = passThrough(client, true);
    const failing = toSse([{ error: { code: 503, message: 'm' } }, chunk('a')]);
    expect(through.push(Buffer.from(failing))?.toString()).toBe(failing);
    through.end();
    expect(through.signals).toMatchObject({ ended: false, failure: { status: 503 }, content: false });
  });

  it('keeps an array’s bytes', () => {
    const through = passThrough(client, true);
    const array = `[${JSON.stringify(chunk('a'))}\r\n,\r\n${JSON.stringify(chunk('b', { finishReason: 'STOP' }))}\r\n]`;
    const pieces = [...Buffer.from(array)].map((byte) => through.push(Buffer.from([byte])) ?? Buffer.alloc(0));
    expect(Buffer.concat([...pieces, through.end()!]).toString()).toBe(array);
    expect(through.signals.ended).toBe(true);
  });
});

describe('a plain body that is passed through', () => {
  it('leaves whole, with its signals', () => {
    const through = passThrough(client, false);
    const body = JSON.stringify(chunk('é', { finishReason: 'MAX_TOKENS' }), null, 2);
    expect(through.push(Buffer.from(body).subarray(0, 50))).toBeUndefined();
    expect(through.push(Buffer.from(body).subarray(50))).toBeUndefined();
    expect(through.end()?.toString()).toBe(body);
    expect(through.signals).toMatchObject({ content: true, finish: 'length', ended: true });
  });

  it.each(['{"candidates":[', '{}', ''])('%j is a failure', (body) => {
    const through = passThrough(client, false);
    through.push(Buffer.from(body));
    expect(through.end()).toBeUndefined();
    expect(through.signals).toMatchObject({ ended: false, failure: { status: 502, kind: 'unreadable_reply' } });
  });
});

it('a body loses the fields that were for the gateway', () => {
  const body: Record<string, unknown> = { contents: [], stream: true };
  const view = { has: (key: string) => key in body, value: (key: string) => body[key] };
  expect(passThroughEdits(view)).toEqual([{ path: ['stream'], value: undefined, source: 'gateway' }]);
});
