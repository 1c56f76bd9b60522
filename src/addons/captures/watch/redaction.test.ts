import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseJson } from '../../../formats/json/object.ts';
import { bytesOf } from '../file/recordings.ts';
import { Redaction, type TimedBytes } from './redaction.ts';

const KEY = 'sk-canary-0123456789abcdef';
const PLAIN = 'correct horse "battery" staple';

const redaction = new Redaction([PLAIN], [{ authorization: `Bearer tok-of-the-caller-42` }], []);

it.each([
  ['a credential of the settings', `say ${PLAIN} twice`],
  ['the same inside of JSON', JSON.stringify({ text: PLAIN })],
  ['the same in JSON inside of JSON', JSON.stringify({ text: JSON.stringify({ PLAIN: 'tok-of-the-caller-42' }) })],
  ['a credential of the request', 'the token is tok-of-the-caller-42.'],
  ['a text in the form of a key', `use ${KEY} please`],
  ['a field that holds a credential', '{"password":"short","api_key":["a","b"]}'],
])('%s becomes marks of the same length', (_, text) => {
  const shown = redaction.text(text);
  expect(shown).toHaveLength(text.length);
  for (const secret of [PLAIN, JSON.stringify(PLAIN).slice(1, -1), KEY, 'tok-of-the-caller-42', 'short'])
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

it('Bytes without a credential stay as they are, whatever they are', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const plain = Buffer.from(bytes)
        .toString('latin1')
        .replaceAll(/[A-Za-z"\\]/g, '.');
      const sent = Buffer.from(plain, 'latin1');
      expect(bytesOf(new Redaction([], [], []).bytes(sent))).toEqual(sent);
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
