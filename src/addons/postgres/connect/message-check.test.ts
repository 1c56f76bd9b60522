import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/support/effort.ts';
import { MessageCheck } from './message-check.ts';

function message(type: string, content: string | Buffer, length = content.length + 4): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, 'latin1');
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, Buffer.from(content)]);
}

/** Takes the bytes in pieces of a size. */
function taken(bytes: Buffer, size = bytes.length): boolean {
  const check = new MessageCheck();
  try {
    for (let at = 0; at < bytes.length; at += size) check.take(bytes.subarray(at, at + size));
    return true;
  } catch {
    return false;
  }
}

describe('the check of the messages of PostgreSQL', () => {
  it('takes messages in pieces of any size', () => {
    const errors = fc
      .array(fc.tuple(fc.constantFrom('S', 'C', 'M'), fc.stringMatching(/^[^\0]*$/)))
      .map((fields) => message('E', Buffer.from(`${fields.map(([type, text]) => `${type}${text}\0`).join('')}\0`)));
    const others = fc
      .tuple(fc.constantFrom('D', 'T', 'Z', 'C'), fc.uint8Array())
      .map(([type, content]) => message(type, Buffer.from(content)));
    fc.assert(
      fc.property(fc.array(fc.oneof(errors, others)), fc.integer({ min: 1, max: 9 }), (messages, size) =>
        taken(Buffer.concat(messages), size),
      ),
      { numRuns: runs(500) },
    );
  });

  it.each([
    ['a greeting of MySQL', Buffer.from('J\0\0\0\x0a5.7.30\0')],
    ['a page of HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['a greeting of SSH', Buffer.from('SSH-2.0-OpenSSH_9.2\r\n')],
    ['a length that does not count itself', message('Z', '', 3)],
    ['a message of 2 GiB', message('D', '', 2 ** 31 - 1)],
    ['an error without an end', message('E', 'SFATAL\0')],
    ['an error of one byte', message('E', 'S')],
    ['an error without a byte', message('E', '')],
  ])('refuses %s', (name, bytes) => {
    // A greeting of MySQL has the frame of a message, whose type is unknown to the parser.
    expect(taken(bytes)).toBe(name.includes('MySQL'));
  });

  it('takes an error without fields', () => {
    expect(taken(message('E', '\0'))).toBe(true);
  });
});
