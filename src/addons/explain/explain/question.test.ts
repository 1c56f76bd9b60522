import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../core/kernel/system-clock.ts';
import { BadQuestion } from '../../../core/process/explain-port.ts';
import { readQuestion, toQuestion } from './question.ts';

const LIMITS = { json: { depth: 8, keys: 100, items: 100 }, header: 1000 };
const read = (value: object | string) =>
  readQuestion(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), LIMITS);

describe('a question', () => {
  it('is for a chat completion by default', () => {
    expect(read('{"body": {"model" : "m"} }')).toEqual({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: {},
      body: '{"model" : "m"}',
    });
  });

  it('keeps the bytes of its body', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (json) => {
        const { body } = read(`{"path":"/v1/messages","body":${json},"method":"POST"}`);
        // A string is a body that may not be JSON.
        expect(body).toBe(json.trim().startsWith('"') ? JSON.parse(json) : json);
      }),
    );
  });

  it('is read or rejected for any input, and never fails otherwise', () => {
    const part = fc.oneof(fc.jsonValue(), fc.constant('POST'), fc.constant('/v1'), fc.constant({ a: 'b' }));
    const names = ['method', 'path', 'headers', 'key', 'draws', 'at'];
    const parts = fc.record(Object.fromEntries(names.map((name) => [name, part])), { requiredKeys: [] });
    fc.assert(
      fc.property(parts, (value) => {
        try {
          const { headers, draws = [] } = read({ body: {}, ...value });
          for (const [name, text] of Object.entries(headers))
            expect([name, typeof text]).toEqual([name.toLowerCase(), 'string']);
          for (const draw of draws) expect(draw).toSatisfy((x: number) => x >= 0 && x < 1);
        } catch (error) {
          expect(error).toBeInstanceOf(BadQuestion);
        }
      }),
    );
  });

  it.each([
    ['2026-01-01', Date.UTC(2026, 0, 1)],
    ['2026-01-01T12:30:00Z', Date.UTC(2026, 0, 1, 12, 30)],
    ['2026-01-01T12:30:00.5+02:00', Date.UTC(2026, 0, 1, 10, 30, 0, 500)],
  ])('has the time %s', (at, wall) => {
    expect(toQuestion(read({ body: {}, at }), { ...systemClock, now: () => 7 }).at).toEqual({ now: 7, wall });
  });

  it.each([
    '2026-02-31',
    '2026-02-29T12:00:00Z',
    '2026-04-31T12:00:00.5+02:00',
    '2026-13-01',
    '2026-01-01T25:00:00Z',
    'today',
  ])('is rejected with %s, which is not a time', (at) => {
    expect(() => read({ body: {}, at })).toThrow('`at` must be a time');
  });

  it('has lower-case header names', () => {
    expect(read({ body: {}, headers: { 'X-Gateway-Config': 'Prod' } }).headers).toEqual({ 'x-gateway-config': 'Prod' });
  });

  it.each([
    ['an object for a header’s name', '{"body":{},"headers":{"__proto__":"x"}}'],
    ['a body that nests too deep', `{"body":${'['.repeat(9)}${']'.repeat(9)}}`],
  ])('is rejected with %s', (_, text) => {
    expect(() => read(text)).toThrow(BadQuestion);
  });

  it('is rejected with bytes that are not text', () => {
    const bytes = Buffer.concat([Buffer.from('{"body":{"a":"'), Buffer.from([0xff]), Buffer.from('"}}')]);
    expect(() => readQuestion(bytes, LIMITS)).toThrow(BadQuestion);
  });

  it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS'])('needs no body for %s, which has none', (method) => {
    expect(read({ method, path: '/v1/models' }).body).toBe('');
  });

  it.each(['POST', 'PUT', 'PATCH'])('needs a body for %s, which may be empty text', (method) => {
    expect(() => read({ method })).toThrow('`body` is required');
    expect(read({ method, body: '' }).body).toBe('');
  });
});
