import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseJson } from '../../../formats/json/object.ts';
import { bytesOf } from '../file/recordings.ts';
import { KnownTexts } from './known-texts.ts';
import { Redaction, TooManyCredentials, type TimedBytes } from './redaction.ts';

const KEY = 'sk-canary-0123456789abcdef';
const PLAIN = 'correct horse "battery" staple';

const redaction = new Redaction([PLAIN], {
  own: [],
  headers: [{ authorization: `Bearer tok-of-the-caller-42` }, { authorization: `Basic ${btoa('bob:pass-of-bob-42')}` }],
  bodies: [],
});

it.each([
  ['a credential of the settings', `say ${PLAIN} twice`],
  ['the same inside of JSON', JSON.stringify({ text: PLAIN })],
  ['the same in JSON inside of JSON', JSON.stringify({ text: JSON.stringify({ PLAIN: 'tok-of-the-caller-42' }) })],
  ['a credential of the request', 'the token is tok-of-the-caller-42.'],
  ['the same with escapes', '{"text":"tok-of-\\u0074he-caller\\u002d42"}'],
  ['the password of a Basic header', 'the password is pass-of-bob-42'],
  ['a token of the admin API', `gha_${'0aB-_'.repeat(8)}`],
  ['a text in the form of a key with escapes', JSON.stringify({ text: KEY }).replace('canary', '\\u0063anary')],
  ['a text in the form of a key', `use ${KEY} please`],
  ['a field that holds a credential', '{"password":"short","api_key":["a","b"]}'],
])('%s becomes marks of the same length', (_, text) => {
  const shown = redaction.text(text);
  expect(shown).toHaveLength(text.length);
  for (const secret of [
    PLAIN,
    JSON.stringify(PLAIN).slice(1, -1),
    KEY,
    'tok-of-the-caller-42',
    'pass-of-bob',
    'gha_',
    'anary',
    'short',
  ])
    expect(shown).not.toContain(secret);
  expect(shown).toContain('*');
  if (parseJson(text) !== undefined) expect(parseJson(shown)).toBeDefined();
});

it('A credential that lies across pieces is found, and each piece keeps its moment and its length', () => {
  const text = Buffer.from(`data: {"text":"é ${KEY}"}\n\n`);
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 6 }), (cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      const pieces = places.slice(1).map((end, index): TimedBytes => [index * 10, text.subarray(places[index], end)]);
      const shown = redaction.pieces(pieces);
      expect(shown.map(([ms]) => ms)).toEqual(pieces.map(([ms]) => ms));
      expect(shown.map(([, bytes]) => bytesOf(bytes).length)).toEqual(pieces.map(([, bytes]) => bytes.length));
      const whole = Buffer.concat(shown.map(([, bytes]) => bytesOf(bytes))).toString();
      expect(whole).toBe(text.toString().replace(KEY, '*'.repeat(KEY.length)));
    }),
  );
});

it('A credential that a model writes over several events of a stream is found', () => {
  const words = ['the key ', ...(KEY.match(/.{1,5}/g) ?? []), ' of the gateway'];
  const events = words.map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
  const shown = redaction.pieces(events.map((event, index) => [index, Buffer.from(event)]));
  const texts = shown.map(([, bytes]) => /"content":"(.*)"/.exec(bytesOf(bytes).toString())?.[1]);
  expect(texts.join('')).toBe(`the key ${'*'.repeat(KEY.length)} of the gateway`);
});

it('Bytes without a credential stay as they are, whatever they are', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const plain = Buffer.from(bytes)
        .toString('latin1')
        .replaceAll(/[A-Za-z"\\]/g, '.');
      const sent = Buffer.from(plain, 'latin1');
      expect(bytesOf(new Redaction([], { own: [], headers: [], bodies: [] }).bytes(sent))).toEqual(sent);
    }),
  );
});

it('Headers with credentials lose their values, and those of the connection are left out', () => {
  const headers = { Authorization: 'Bearer x', 'x-own-secret-header': 'abc', host: 'a', 'content-type': 'text/plain' };
  expect(redaction.headers({ ...headers, 'x-special': 'v' }, ['x-special'])).toEqual({
    authorization: '[secret]',
    'x-own-secret-header': '[secret]',
    'content-type': 'text/plain',
    'x-special': '[secret]',
  });
});

it('Known texts are marked wherever they occur, also where they overlap, and nothing else is', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 8, maxLength: 12 });
  fc.assert(
    fc.property(
      fc.array(letters, { maxLength: 6 }),
      fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 80 }),
      (known, text) => {
        const hidden = new Set<number>();
        for (const one of known)
          for (let at = text.indexOf(one); at >= 0; at = text.indexOf(one, at + 1))
            for (let inside = at; inside < at + one.length; inside += 1) hidden.add(inside);
        const found = new Set<number>();
        for (const [from, to] of new KnownTexts(known).placesIn(text))
          for (let inside = from; inside < to; inside += 1) found.add(inside);
        expect([...found]).toEqual([...hidden].toSorted((one, other) => one - other));
      },
    ),
    { numRuns: 1_000 },
  );
});

it('A request with credentials by the thousand is not searched for them', () => {
  const cookies = Array.from({ length: 1_000 }, (_, index) => `name${index}=value-${index}-of-a-cookie`).join('; ');
  const redact = () => new Redaction([], { own: [], headers: [{ cookie: cookies }], bodies: [] });
  expect(redact).toThrow(TooManyCredentials);
});
