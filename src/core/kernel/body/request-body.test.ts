import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeEdits } from '../../../../plugins/override/merge-levels.ts';
import { scanTopLevel } from './json-scan.ts';
import { runForPlugin } from '../outside/plugin-work.ts';
import { RequestBody } from './request-body.ts';
import { runs } from '../../../../test/support/effort.ts';

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

  it('can release what it has parsed, and parses it again', () => {
    const body = read({ model: 'm', messages: [1] });
    const parsed = body.json();
    body.forgetParsed();
    expect(body.json()).toEqual(parsed);
    expect(body.json()).not.toBe(parsed);
    const edited = merge(body, { seed: 7 });
    edited.json();
    edited.forgetParsed();
    expect(edited.json()).toEqual({ model: 'm', messages: [1], seed: 7 });
  });

  it('merges objects key by key, replaces arrays, deletes with null', () => {
    const body = read({ model: 'm', a: { b: 1, c: { d: 2 } }, list: [1, 2], gone: true });
    const merged = merge(body, { a: { c: { e: 3 } }, list: [9], gone: null, fresh: { x: 1 } });
    expect(merged.json()).toEqual({ model: 'm', a: { b: 1, c: { d: 2, e: 3 } }, list: [9], fresh: { x: 1 } });
    expect(JSON.parse(merged.encode().toString())).toEqual(merged.json());
  });

  it.each<[string, string, Record<string, unknown>, string]>([
    [
      'an object that is merged',
      '{"seed":9007199254740993,"a":{"b":1}}',
      { a: { c: 2 } },
      '{"seed":9007199254740993,"a":{"b":1,"c":2}}',
    ],
    ['a key that is taken away', '{"seed":9007199254740993, "a":1}', { a: null }, '{"seed":9007199254740993}'],
    ['a key that was never there', '{ "seed": 9007199254740993 }', { a: null }, '{ "seed": 9007199254740993 }'],
  ])('leaves numbers that JavaScript cannot hold as they came, beside %s', (_, bytes, params, expected) => {
    expect(
      merge(RequestBody.read(Buffer.from(bytes), 64), params)
        .encode()
        .toString(),
    ).toBe(expected);
  });

  it('merges an empty object into one, which changes nothing', () => {
    const merged = merge(RequestBody.read(Buffer.from('{"a":{"b":1},"c":2}'), 64), { a: {}, c: {}, d: {} });
    expect(JSON.parse(merged.encode().toString())).toEqual({ a: { b: 1 }, c: {}, d: {} });
    expect(merged.json()).toEqual({ a: { b: 1 }, c: {}, d: {} });
  });

  it('leaves the body it was made from as it was', () => {
    const body = read({ model: 'm', a: { b: 1 } });
    const before = structuredClone(body.json());
    merge(merge(body, { a: { b: 2 } }), { model: 'n' }).json();
    expect(body.json()).toEqual(before);
  });

  it('reads a top-level value before and after an edit without parsing the rest', () => {
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

  it('outlines a body of many short values in a few KB, the model and the flag of streams among them', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 'short']));
    const outline = read({ ...many, model: 'm', stream: true }).outline();
    expect(outline.json()).toMatchObject({ model: 'm', stream: true, k0: 'short' });
    expect(outline.original.length).toBeLessThan(20_000);
  });

  it.each([
    ['the first', { a: null }, '{ "b" : 2, "c" : 3 }'],
    ['one between two', { b: null }, '{ "a" : 1, "c" : 3 }'],
    ['the last', { c: null }, '{ "a" : 1, "b" : 2}'],
    ['the last two', { b: null, c: null }, '{ "a" : 1}'],
    ['all', { a: null, b: null, c: null }, '{ }'],
    ['the last behind one that is replaced', { b: 9, c: null }, '{ "a" : 1, "b" : 9}'],
    ['all but one that is added', { a: null, b: null, c: null, d: 4 }, '{ "d":4}'],
  ])('takes a key away and leaves every other byte as it came: %s', (_, params, expected) => {
    const body = RequestBody.read(Buffer.from('{ "a" : 1, "b" : 2, "c" : 3 }'), 64);
    expect(merge(body, params).encode().toString()).toBe(expected);
  });

  it('changes `__proto__` like any other key', () => {
    const body = merge(
      RequestBody.read(Buffer.from('{"__proto__":{"a":1},"b":2}'), 64),
      JSON.parse('{"__proto__":{"c":3}}'),
    );
    expect(JSON.stringify(body.json())).toBe('{"__proto__":{"a":1,"c":3},"b":2}');
    expect(body.encode().toString()).toBe('{"__proto__":{"a":1,"c":3},"b":2}');
  });

  it('refuses bytes that are not UTF-8 instead of replacing them', () => {
    expect(() => RequestBody.read(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 64)).toThrow(/UTF-8/);
  });

  it('splices one value as it splices several', () => {
    const scalar = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.double(), fc.boolean());
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }),
        fc.nat(),
        scalar,
        fc.nat(2),
        (...input) => {
          const [json, at, value, indent] = input;
          const bytes = Buffer.from(JSON.stringify(json, null, indent));
          const keys = Object.keys(json);
          const key = keys[at % keys.length]!;
          const body = RequestBody.read(bytes, 100);
          const one = body.edit([{ path: [key], value, source: 'test' }]);
          const twice = one.edit([{ path: [key], value, source: 'test' }]);
          expect(one.encode()).toEqual(twice.encode());
          expect([one.value(key), one.has(key)]).toEqual([twice.value(key), twice.has(key)]);
          for (const other of keys) expect([one.value(other), one.has(other)]).toEqual([twice.value(other), true]);
        },
      ),
    );
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

describe('a body that code of an external plugin reads', () => {
  const read = () => RequestBody.read(Buffer.from('{"a":{"b":[{"c":1}]},"d":null,"e":[]}'), 9);
  const asPlugin = <T>(task: () => T): T => runForPlugin('outside', task);
  const inner = (a: unknown): unknown => (a as { readonly b: readonly unknown[] }).b[0];

  it('is frozen to its last object, also where an edit has added one or a built-in plugin has parsed it', () => {
    const body = read();
    body.json();
    const edited = body.edit([{ path: ['a', 'f'], value: { g: {} }, source: 'test' }]);
    for (const view of [body, edited]) {
      const json = asPlugin(() => view.json());
      const parts = [json, json['a'], inner(json['a']), json['e'], (json['a'] as { f?: object }).f];
      expect(parts.every(Object.isFrozen)).toBe(true);
    }
    expect(Object.isFrozen(inner(asPlugin(() => read().value('a'))))).toBe(true);
    expect(edited.edit([{ path: ['d'], value: 2, source: 'test' }]).json()['d']).toBe(2);
  });

  it('is not frozen for the gateway itself, so that no request pays for it', () => {
    const body = read();
    expect([Object.isFrozen(body.json()), Object.isFrozen(body.value('a'))]).toEqual([false, false]);
  });

  it('has a type that cannot be written to', () => {
    const body = read();
    // @ts-expect-error the index is read-only
    const write = (): void => void (body.json()['a'] = 1);
    asPlugin(() => body.json());
    expect(write).toThrow(TypeError);
  });
});

describe('the fingerprint of a body', () => {
  const of = (body: RequestBody, ...omit: string[]): string => {
    const hash = createHash('sha256');
    body.fingerprint(hash, new Set(omit));
    return hash.digest('hex');
  };
  const raw = (text: string): RequestBody => RequestBody.read(Buffer.from(text), 64);

  it.each([
    ['another value', '{"a":1}', '{"a":2}'],
    ['another key', '{"a":1}', '{"b":1}'],
    ['one key more', '{"a":1}', '{"a":1,"b":1}'],
    ['null and no key', '{"a":null}', '{}'],
    ['a number and its text', '{"a":1}', '{"a":"1"}'],
    ['numbers that are the same double', '{"a":9007199254740992}', '{"a":9007199254740993}'],
    ['numbers inside a value that are the same double', '{"a":[1e400]}', '{"a":[1e401]}'],
    ['lone surrogates in a key', '{"\\ud800":1}', '{"\\ud801":1}'],
    ['lone surrogates in a value', '{"a":"\\ud800"}', '{"a":"\\ud801"}'],
    ['the order of nested keys', '{"a":{"b":1,"c":2}}', '{"a":{"c":2,"b":1}}'],
    ['a value that looks like the next key', '{"a":"1","b":"2"}', '{"a":"1\\"\\"b\\"3:\\"2"}'],
  ])('tells apart: %s', (_, one, other) => {
    expect(of(raw(one))).not.toBe(of(raw(other)));
  });

  it('does not see the order of top-level keys, the space between them, and keys that are left out', () => {
    const plain = of(raw('{"model":"m","n":1.50}'));
    expect(of(raw('{ "n" : 1.50 , "model":"m" }'))).toBe(plain);
    expect(of(raw('{"stream":true,"model":"m","n":1.50}'), 'stream')).toBe(plain);
    expect(of(raw('{"stream":true,"model":"m","n":1.50}'))).not.toBe(plain);
  });

  it('is that of the body as it will be sent: an edit counts as if the client had written it', () => {
    const sent = of(raw('{"model":"m","seed":7}'));
    expect(of(merge(raw('{"model":"@a/m","seed":7}'), { model: 'm' }))).toBe(sent);
    expect(of(merge(raw('{"model":"m"}'), { seed: 7 }))).toBe(sent);
    expect(of(merge(raw('{"model":"m","seed":7,"user":"u"}'), { user: null }))).toBe(sent);
    expect(of(merge(raw('{"model":"m","seed":7}'), { seed: 8 }))).not.toBe(sent);
    expect(of(merge(raw('{"model":"m","seed":7}'), { user: { id: 1 } }), 'user')).toBe(sent);
  });

  const key = fc.constantFrom('model', 'stream', 'a', 'ab', 'b', '1:', '"', '__proto__');
  const object = fc.dictionary(key, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 });
  /** The sent body by key, independent of key order. */
  const sent = (body: RequestBody): string => {
    const bytes = body.encode();
    const values = [...scanTopLevel(bytes, { depth: 64, keys: 1000, items: 1000 })].map(([name, { from, to }]) => [
      name,
      bytes.toString('utf8', from, to),
    ]);
    return JSON.stringify(values.sort());
  };

  it('differs for bodies that would be sent differently', () => {
    fc.assert(
      fc.property(object, object, object, object, (one, other, editsOfOne, editsOfOther) => {
        const bodies = [merge(read(one), editsOfOne), merge(read(other), editsOfOther)] as const;
        if (sent(bodies[0]) !== sent(bodies[1])) expect(of(bodies[0])).not.toBe(of(bodies[1]));
      }),
      { numRuns: runs(2000) },
    );
  });

  it('is the same for the same body, whatever the order of its top-level keys', () => {
    fc.assert(
      fc.property(object, fc.infiniteStream(fc.nat(3)), (json, order) => {
        const shuffled = Object.entries(json)
          .map((entry) => ({ entry, at: order.next().value ?? 0 }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ entry: [name, value] }) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
        expect(of(raw(`{${shuffled.join()}}`))).toBe(of(read(json)));
      }),
    );
  });
});
