import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FormScanner, type FormToken } from './form-scanner.ts';

const BOUNDARY = 'boundary';
const part = (name: string, value: string, more = ''): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const END = `--${BOUNDARY}--\r\n`;

/** Name, whether it is a file, and data of each part, read in pieces. */
function read(pieces: readonly Buffer[]): (readonly [string, boolean, string])[] {
  const scanner = new FormScanner(BOUNDARY);
  const parts: { name: string; isFile: boolean; data: Buffer[] }[] = [];
  const take = (token: FormToken): void => {
    if (token.kind === 'part') parts.push({ name: token.head.name, isFile: token.head.isFile, data: [] });
    else if (token.kind === 'data') parts.at(-1)!.data.push(token.bytes);
  };
  for (const piece of pieces) for (const token of scanner.push(piece)) take(token);
  take(scanner.finish());
  return parts.map(({ name, isFile, data }) => [name, isFile, Buffer.concat(data).toString('latin1')]);
}

const inPieces = (text: string, size: number): Buffer[] => {
  const bytes = Buffer.from(text, 'latin1');
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
};

describe('a multipart form', () => {
  it('has the same parts in any split of its bytes', () => {
    const value = fc.string({
      unit: fc.constantFrom('\r', '\n', '-', 'b', '\r\n--bound', `--${BOUNDARY}`, 'x'),
      maxLength: 9,
    });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 40 }), (values, size) => {
        fc.pre(values.every((one) => !`\r\n${one}\r\n`.slice(0, -2).includes(`\r\n--${BOUNDARY}`)));
        const text = values.map((one, at) => part(`f${at}`, one)).join('') + END;
        expect(read(inPieces(text, size))).toEqual(values.map((one, at) => [`f${at}`, false, one]));
      }),
    );
  });

  it.each([
    ['a file', part('a', 'x', '; filename="b.wav"'), ['a', true, 'x']],
    ['a file with an encoded name', part('a', 'x', "; filename*=UTF-8''b"), ['a', true, 'x']],
    ['a quote in a name, as browsers write it', part('a%22b', 'x'), ['a"b', false, 'x']],
    ['a quote in a name, as old clients write it', part('a\\"b', 'x'), ['a"b', false, 'x']],
    ['no value', part('a', ''), ['a', false, '']],
    [
      'a bare line feed before what looks like a delimiter',
      part('a', `\n--${BOUNDARY}`),
      ['a', false, `\n--${BOUNDARY}`],
    ],
  ])('may have %s', (_, text, expected) => {
    expect(read([Buffer.from(text + END)])).toEqual([expected]);
  });

  it.each([
    ['a name', '; filename="b.wav"', 'b.wav', undefined],
    ['an empty name', '; filename=""', '', undefined],
    ['a name in the extended form, which wins', '; filename="x"; filename*=UTF-8\'\'%C3%BC%20b', 'ü b', undefined],
    ['a name in an encoding that is not read', '; filename="x"; filename*=latin1\'\'%FC', 'x', undefined],
    ['an extended name alone that cannot be read', "; filename*=UTF-8''%FF", '', undefined],
    ['a type with parameters', '; filename="b"\r\nContent-Type: Audio/WAV; x=y', 'b', 'audio/wav'],
    ['a type and no name', '\r\ncontent-type:application/octet-stream', undefined, 'application/octet-stream'],
  ])('has a file with %s', (_, more, filename, declared) => {
    const text = Buffer.from(part('file', 'x').replace('"file"', `"file"${more}`) + END);
    const [token] = [...new FormScanner(BOUNDARY).push(text)];
    expect(token).toMatchObject({ kind: 'part', head: { name: 'file', filename, declared } });
  });

  it.each([
    ['no part', END],
    ['no end', part('a', 'x')],
    ['text before its first delimiter', `x\r\n${part('a', 'x')}${END}`],
    ['text behind its end', `${part('a', 'x')}${END}x`],
    ['a part behind its end', `${part('a', 'x')}${END}${part('model', 'x')}${END}`],
    ['padding behind a delimiter', part('a', 'x').replace(`${BOUNDARY}\r`, `${BOUNDARY} \r`) + END],
    ['a part without a name', part('a', 'x').replace('; name="a"', '') + END],
    ['a part with two names', part('a', 'x', '; name="b"') + END],
    ['a part with two dispositions', part('a', 'x').replace('\r\n\r\n', '\r\ncontent-disposition: x\r\n\r\n') + END],
    ['a disposition that cannot be read', part('a', 'x', '; filename="b') + END],
    ['headers without an end', `--${BOUNDARY}\r\n${'a: b\r\n'.repeat(2000)}`],
  ])('is refused with %s', (_, text) => {
    for (const size of [1, 7, text.length])
      expect(() => read(inPieces(text, size)), String(size)).toThrow(
        expect.objectContaining({ code: 'invalid_multipart' }),
      );
  });
});
