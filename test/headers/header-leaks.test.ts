import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leakingSettingsAreRefused, nothingLeaks, type Tally } from './leaks.ts';

/** Each property needs two to three seconds of CPU time; on a busy machine that can take minutes. */
const BUSY_MS = 300_000;

describe('settings without a mistake', () => {
  it(
    'send no credential and no request header to a place that they do not name, and none reaches an upstream by a path that is not foreseen',
    async () => {
      const tally: Tally = new Map();
      await fc.assert(nothingLeaks(tally), { numRuns: 100 });
      for (const seen of [
        'a credential in authorization',
        'a credential in x-api-key',
        'a credential in x-entrance',
        'a forwarded header',
        'said in anthropic-beta',
        'said in anthropic-version',
        "the caller's token at an entry",
        "the caller's token at custom host",
        "the caller's token at vertex-ai",
        'a possible path of a header',
      ])
        expect.soft(tally.get(seen), seen).toBeGreaterThan(0);
    },
    BUSY_MS,
  );
});

describe('settings that would send a credential or a request header to another place', () => {
  it(
    'are refused at the line and column of the mistake, also as a config that comes with a request',
    async () => {
      const tally: Tally = new Map();
      await fc.assert(leakingSettingsAreRefused(tally), { numRuns: 300 });
      expect(Object.fromEntries(tally)).toEqual({
        'a config forwards a header that may not travel': expect.any(Number),
        'a secret is in a header of another entry': expect.any(Number),
        'a secret is in the address of another entry': expect.any(Number),
        'a secret is in the parameters of a config': expect.any(Number),
        'a gateway key is the credential of an entry': expect.any(Number),
        'an entry has a credential in a header that is no secret': expect.any(Number),
      });
    },
    BUSY_MS,
  );
});
