import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { abridge, isMostlyLong, LONG_TEXT_SHOWN } from './abridged-json.ts';
import { scanObject } from './json-scan.ts';
import { RequestBody } from './request-body.ts';
import { runs } from '../../../../test/support/effort.ts';

const LIMITS = { depth: 64, keys: 1000, items: 10_000 };
const isLong = (text: string): boolean => Buffer.byteLength(JSON.stringify(text)) >= 256;

/** The value that an abridged text stands for. */
function abridged(value: unknown): unknown {
  if (typeof value === 'string') return isLong(value) ? LONG_TEXT_SHOWN : value;
  if (Array.isArray(value)) return value.map(abridged);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, abridged(inner)]));
}

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .tuple(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('é', '"', '\\', 'word ', '\n', '😀'),
      fc.integer({ min: 0, max: 300 }),
    )
    .map(([start, repeated, times]) => start + repeated.repeat(times)),
);
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value')),
    fc.dictionary(
      text.filter((key) => key !== '__proto__'),
      tie('value'),
    ),
  ),
}));
const body = fc.dictionary(
  text.filter((key) => key !== '__proto__'),
  json,
  { maxKeys: 6 },
);

describe('an abridged body', () => {
  it('has a short text in place of each long one, and everything else as the body has it', () => {
    fc.assert(
      fc.property(body, fc.nat(2), (value, indent) => {
        const bytes = Buffer.from(JSON.stringify(value, null, indent));
        const { longTexts } = scanObject(bytes, LIMITS);
        const parsed: unknown = JSON.parse(abridge(bytes, longTexts));
        expect(parsed).toEqual(abridged(JSON.parse(bytes.toString())));
      }),
      { numRuns: runs(1000) },
    );
  });

  const long = 'x'.repeat(5000);
  const read = (value: object): RequestBody => RequestBody.read(Buffer.from(JSON.stringify(value)), LIMITS);

  it.each([
    ['a body that is mostly long texts', { a: long }, { a: LONG_TEXT_SHOWN }],
    ['a small body', { a: 'x'.repeat(300) }, { a: 'x'.repeat(300) }],
    ['a body of 1 KB', { a: 'x'.repeat(900) }, { a: LONG_TEXT_SHOWN }],
    [
      'a body that is mostly short texts',
      { a: 'x'.repeat(300), b: Array.from({ length: 2000 }, () => 'short') },
      { a: 'x'.repeat(300), b: Array.from({ length: 2000 }, () => 'short') },
    ],
  ])('abridges %s as expected', (_, value, expected) => {
    expect(read(value).abridged()).toEqual(expected);
  });

  it('has the edits of the body', () => {
    const edited = read({ a: long, b: { c: 1 } }).edit([{ path: ['b', 'c'], value: long, source: 'test' }]);
    expect(edited.abridged()).toEqual({ a: LONG_TEXT_SHOWN, b: { c: long } });
  });

  it('is the parsed body where the body has been parsed', () => {
    const parsed = read({ a: long });
    const json = parsed.json();
    expect([parsed.abridges, parsed.abridged() === json]).toEqual([false, true]);
  });

  it('is made without parsing the long texts', () => {
    const sent = read({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(100_000) }] });
    const parse = vi.spyOn(JSON, 'parse');
    sent.abridged();
    const parsed = parse.mock.calls.map(([text]) => text.length);
    parse.mockRestore();
    expect(parsed.length).toBe(1);
    expect(parsed[0]).toBeLessThan(100);
  });

  it('leaves the body itself whole', () => {
    const whole = read({ a: long });
    whole.abridged();
    expect([whole.string('a'), whole.json()]).toEqual([long, { a: long }]);
  });

  it('answers for short values as the body does', () => {
    fc.assert(
      fc.property(body, (value) => {
        const bytes = Buffer.from(JSON.stringify({ ...value, long }));
        const asked = RequestBody.read(bytes, LIMITS);
        asked.abridged();
        const whole = JSON.parse(bytes.toString()) as Record<string, unknown>;
        for (const key of Object.keys(whole)) expect(asked.value(key)).toEqual(whole[key]);
      }),
    );
  });

  it('takes no buffer of the size of the body', () => {
    const bytes = Buffer.from(JSON.stringify({ a: 'x'.repeat(1_000_000) }));
    const { longTexts } = scanObject(bytes, LIMITS);
    const before = process.memoryUsage().arrayBuffers;
    const text = abridge(bytes, longTexts);
    expect([JSON.parse(text), process.memoryUsage().arrayBuffers - before < 100_000]).toEqual([
      { a: LONG_TEXT_SHOWN },
      true,
    ]);
  });

  it('is worth its cost only where long texts are more than half of the bytes', () => {
    expect([isMostlyLong(10_000, [0, 5001]), isMostlyLong(10_000, [0, 5000]), isMostlyLong(500, [0, 500])]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
