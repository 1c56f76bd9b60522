import { describe, expect, it } from 'vitest';
import { formats } from '../index.ts';
import { clientContext, replyContext } from '../contexts.testkit.ts';
import { decodeAll } from '../laws.testkit.ts';
import { toEvents } from '../generations.testkit.ts';

const NAMES = ['openai-chat', 'anthropic-messages', 'gemini'] as const;
const reply = toEvents({
  id: 'reply-1',
  model: 'model-ran',
  choices: [{ blocks: [{ type: 'text', text: 'Hello' }], finish: 'stop' }],
  usage: { input: 1, output: 1, total: 2 },
});

/** Copies, as a socket gives them. */
function inReads(bytes: Buffer, size: number): Buffer[] {
  const reads = Math.ceil(bytes.length / size);
  return Array.from({ length: reads }, (_, at) => Buffer.from(bytes.subarray(at * size, at * size + size)));
}

/** WHATWG HTML, section 9.2.5: CR, LF and CRLF each end a line. */
describe.each(NAMES)('A stream of %s', (name) => {
  const format = formats[name];
  const written = format.encodeStream(clientContext()).push(reply);
  const decode = (bytes: Buffer, size: number) => decodeAll(format.decodeStream(replyContext()), inReads(bytes, size));

  describe.each(['\r', '\n', '\r\n'])('whose lines end in %j', (eol) => {
    const stream = Buffer.from(written.replaceAll(/\r\n|\n/g, eol));

    it.each([1, 2, 7, 10_000])('decodes to the same events, in reads of %d', (size) => {
      expect(decode(stream, size)).toEqual(decode(Buffer.from(written), 10_000));
    });

    it.each([1, 2, 7, 10_000])('passes through unchanged, in reads of %d', (size) => {
      const reader = format.passThrough!.open(clientContext(), true);
      const pieces = [...inReads(stream, size).map((piece) => reader.push(piece)), reader.end()];
      expect(Buffer.concat(pieces.filter((piece) => piece !== undefined)).toString()).toBe(stream.toString());
      expect(reader.signals).toMatchObject({ ended: true, finish: 'stop', failure: undefined });
    });

    it('loses only the usage that its client did not request', () => {
      const client = clientContext({ includeUsage: false });
      const passed = (bytes: Buffer) => {
        const reader = format.passThrough!.open(client, true);
        return Buffer.concat([reader.push(bytes), reader.end()].filter((piece) => piece !== undefined)).toString();
      };
      expect(passed(stream)).toBe(passed(Buffer.from(written)).replaceAll(/\r\n|\n/g, eol));
    });
  });
});
