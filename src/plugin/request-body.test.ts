import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeEdits } from './edits.ts';
import { RequestBody } from './request-body.ts';

const read = (value: unknown) => RequestBody.read(Buffer.from(JSON.stringify(value)), 64);
const merge = (body: RequestBody, params: Record<string, unknown>) => body.edit(mergeEdits(params, 'test'));

describe('a request body and its edits', () => {
  it('sends the very bytes that came when nothing was edited', () => {
    const bytes = Buffer.from('{ "model" : "m",  "x": 1.50 }');
    expect(RequestBody.read(bytes, 64).encode()).toBe(bytes);
  });

  it('splices a replaced top-level value and leaves every other byte as it came', () => {
    const body = RequestBody.read(Buffer.from('{ "model" : "@a/m",  "x": 1.50, "stream" : true }'), 64);
    expect(merge(body, { model: 'm' }).encode().toString()).toBe('{ "model" : "m",  "x": 1.50, "stream" : true }');
    expect(merge(body, { seed: 7 }).encode().toString()).toBe(
      '{"seed":7, "model" : "@a/m",  "x": 1.50, "stream" : true }',
    );
    expect(merge(read({}), { seed: 7 }).encode().toString()).toBe('{"seed":7}');
  });

  it('merges objects key by key, replaces arrays, deletes with null', () => {
    const body = read({ model: 'm', a: { b: 1, c: { d: 2 } }, list: [1, 2], gone: true });
    const merged = merge(body, { a: { c: { e: 3 } }, list: [9], gone: null, fresh: { x: 1 } });
    expect(merged.json()).toEqual({ model: 'm', a: { b: 1, c: { d: 2, e: 3 } }, list: [9], fresh: { x: 1 } });
    expect(JSON.parse(merged.encode().toString())).toEqual(merged.json());
  });

  it('leaves the body it was made from as it was', () => {
    const body = read({ model: 'm', a: { b: 1 } });
    const before = structuredClone(body.json());
    merge(merge(body, { a: { b: 2 } }), { model: 'n' }).json();
    expect(body.json()).toEqual(before);
  });

  it('tells a top-level value before and after an edit without parsing the rest', () => {
    const body = read({ model: 'm', stream: false, messages: [] });
    expect([body.string('model'), body.value('stream'), body.has('seed'), body.value('seed')]).toEqual([
      'm',
      false,
      false,
      undefined,
    ]);
    const edited = merge(body, { model: 'n', stream: null, seed: 1 });
    expect([edited.string('model'), edited.has('stream'), edited.value('seed')]).toEqual(['n', false, 1]);
  });

  it('outlines itself: flags, numbers and short strings as they will be sent, nothing large', () => {
    const body = merge(
      read({ model: 'm', stream: true, temperature: 0.5, user: 'x'.repeat(300), messages: [1], stop: null }),
      { model: 'n', seed: 3, stop: 'x' },
    );
    expect(body.outline().json()).toEqual({ model: 'n', stream: true, temperature: 0.5, seed: 3, stop: 'x' });
  });

  it('refuses bytes that are not UTF-8 instead of replacing them', () => {
    expect(() => RequestBody.read(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 64)).toThrow(/UTF-8/);
  });

  it('encodes to the JSON that the view shows, for any edits', () => {
    const params = fc.dictionary(fc.string(), fc.oneof(fc.jsonValue(), fc.constant(null)));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), params, (value, edits) => {
        const view = merge(RequestBody.read(Buffer.from(JSON.stringify(value)), 512), edits);
        expect(JSON.parse(view.encode().toString())).toEqual(JSON.parse(JSON.stringify(view.json())));
      }),
    );
  });
});
