import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Signals } from '../events.ts';
import { PlainPassThrough } from '../streams/plain-pass-through.ts';
import { decodeReply } from './decode-reply.ts';
import { readOrdinaryReply, withShortContent } from './ordinary-reply.ts';

const TEXT = 'She said \\"no\\", and left.\\n'.repeat(20);

const reply = (content: string, more = ''): string =>
  `{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content": "${content}"${more}},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`;

it('A long text leaves the reply but for one letter, and a short one stays', () => {
  expect(withShortContent(Buffer.from(reply(TEXT)))).toBe(reply('~'));
  expect(withShortContent(Buffer.from(reply('short')))).toBeUndefined();
  expect(withShortContent(Buffer.from(reply(`a\\u00e9${TEXT}`)))).toBeUndefined();
});

/** Replies whose text is broken, escaped, in another place, or beside other members of the same name. */
const replies = fc
  .record({
    content: fc.constantFrom(
      TEXT,
      `${TEXT}\\u00e9${TEXT}`,
      `${TEXT}\\`,
      `${TEXT}\\x`,
      `${TEXT}\n`,
      `${TEXT}é€😀`,
      'short',
      '',
    ),
    more: fc.constantFrom(
      '',
      ',"refusal":"no"',
      ',"content":""',
      `,"content":null`,
      `,"content":"${TEXT}"`,
      `,"\\"content":"${TEXT}"`,
      `,"annotations":[{"content":"${TEXT}"}]`,
    ),
    before: fc.constantFrom('', '\uFEFF', ' ', `{"error":{"content":"${TEXT}"}}`, `"content":"${TEXT}"`),
    cut: fc.option(fc.nat(1500), { nil: undefined }),
    noise: fc.option(fc.tuple(fc.nat(1500), fc.constantFrom('"', '\\', '{', '\u0000', 'é', 'x')), { nil: undefined }),
  })
  .map(({ content, more, before, cut, noise }) => {
    const text = (before + reply(content, more)).slice(0, cut);
    return noise ? text.slice(0, noise[0]) + noise[1] + text.slice(noise[0] + 1) : text;
  });

/** The reading of a reply: its bytes, if they are sent, and its signals. */
function read(decode: ConstructorParameters<typeof PlainPassThrough>[0], bytes: Buffer): [string | undefined, Signals] {
  const reader = new PlainPassThrough(decode, 'm');
  reader.push(bytes);
  return [reader.end()?.toString(), reader.signals];
}

const plain = Object.assign(decodeReply.bind(undefined), { ordinary: readOrdinaryReply });
const short = Object.assign(decodeReply.bind(undefined), { ordinary: readOrdinaryReply, shorten: withShortContent });

it('A reader of shortened replies says of each reply what a reader of whole replies says', () => {
  let shortened = 0;
  fc.assert(
    fc.property(replies, (text) => {
      const bytes = Buffer.from(text);
      if (withShortContent(bytes) !== undefined) shortened += 1;
      expect(read(short, bytes)).toEqual(read(plain, bytes));
    }),
    { numRuns: 2000 },
  );
  expect(shortened).toBeGreaterThan(500);
});
