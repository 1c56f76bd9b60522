import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAgreement } from './kit/agree.ts';
import type { Api } from './kit/client.ts';
import { refuse } from './kit/deeds.ts';
import { DIALECT_NAMES } from './kit/dialects.ts';
import { startRig, type Rig } from './kit/rig.ts';
import { configFor } from './scenarios.ts';

/** The caller has begun the answer itself; its first target is unwell, and the other one does not take such requests. */

let rig: Rig;
beforeAll(async () => {
  rig = await startRig(Object.fromEntries(DIALECT_NAMES.map((name) => [name, configFor(name, 'fallback', {})])));
});
afterAll(() => rig.close());

const messages = [
  { role: 'user', content: 'Name three colours.' },
  { role: 'assistant', content: 'Red,' },
];
const CLIENTS: readonly (readonly [Api, number])[] = [
  ['chat', 503],
  ['messages', 529],
];

describe.each(DIALECT_NAMES)(
  'a prefilled request whose %s target is overloaded, and refused by the fallback',
  (name) => {
    it.each(CLIENTS.flatMap(([api, status]) => [false, true].map((stream) => ({ api, status, stream }))))(
      'gets the overload and not the refusal ($api, stream: $stream)',
      async ({ api, status, stream }) => {
        rig.primary.does(refuse({ status: 503, message: 'Overloaded.' }));
        rig.fallback.does(refuse({ status: 400, message: 'This model does not support assistant message prefill.' }));
        const seen = await rig.ask({ api, stream, config: name, body: { messages } });
        expectAgreement(seen);
        expect([seen.received?.status, seen.received?.error?.message]).toEqual([
          status,
          expect.stringContaining('Overloaded.'),
        ]);
        expect(
          seen.record.attempts.map(({ why, failure }) => [why, failure?.code, failure?.status]),
          'the record tells both',
        ).toEqual([
          ['first', 'overloaded', 503],
          ['fallback', 'upstream_rejected', 400],
        ]);
        // The prefill went to both.
        for (const { body } of [...seen.primary, ...seen.fallback]) expect(body).toContain('Red,');
      },
    );
  },
);
