import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../plugin/index.ts';
import { failureOf } from './recorded-tries.ts';

const messageOf = (message: string): string | undefined =>
  failureOf(new UpstreamError('upstream_rejected', 'x', { upstreamReport: { message } })).upstreamMessage;

describe('the message of an upstream in the record of a failure', () => {
  it('is truncated, and its unprintable characters are replaced', () => {
    expect(messageOf('x'.repeat(512))).toBe('x'.repeat(512));
    expect(messageOf('x'.repeat(1_000_000))).toBe(`${'x'.repeat(512)}…`);
    expect(messageOf('a\u001b[2J\nb\u202e\ud800')).toBe('a\ufffd[2J\ufffdb\ufffd\ufffd');
  });

  it.each([
    'Bearer abcdefgh12345678',
    'sk-proj-abcdefgh12345678',
    `gatehouse_abcdefghijkl_${'x'.repeat(49)}`,
    `AIza${'x'.repeat(35)}`,
  ])('never contains %s, even where the credential begins at the end of the truncated text', (credential) => {
    for (const before of [0, 400, 496, 506, 510]) {
      const shown = messageOf(`${'y '.repeat(before).slice(0, before)}${credential} more`) ?? '';
      const secretPart = credential.slice(credential.startsWith('Bearer') ? 7 : 0);
      for (let length = 4; length <= secretPart.length; length += 1)
        expect(shown).not.toContain(secretPart.slice(0, length));
    }
  });

  it('is absent where the gateway itself is the author of the message', () => {
    expect(failureOf(new UpstreamError('connection_failed', 'no connection'))).toMatchObject({
      upstreamMessage: undefined,
      upstreamParam: undefined,
      upstreamCode: undefined,
    });
  });
});
