import { describe, expect, it } from 'vitest';
import { MAX_ANSWERS, type KeptAnswer } from '../../../../core/ports/idempotency.ts';
import { NOON, onStore, type Backend } from './opened-store.testkit.ts';

const answer = (key: string, more: Partial<KeptAnswer> = {}): KeptAnswer => ({
  actor: 'ann',
  key,
  sha256: 'a'.repeat(64),
  status: 201,
  body: '{"sealed":"…"}',
  until: NOON + 1_000,
  ...more,
});

export function describeIdempotency(backend: Backend): void {
  describe('the kept answers', () => {
    it(
      'are found by their actor and key until they end, and the first one stays',
      onStore(backend, async ({ idempotency }, clock) => {
        await idempotency.keep(answer('one'));
        await idempotency.keep(answer('one', { status: 500, actor: 'ann' }));
        await idempotency.keep(answer('one', { status: 202, actor: 'bob' }));
        expect(await idempotency.find('ann', 'one')).toEqual(answer('one'));
        expect((await idempotency.find('bob', 'one'))?.status).toBe(202);
        expect(await idempotency.find('ann', 'two')).toBeUndefined();
        await clock.advance(1_000);
        expect(await idempotency.find('ann', 'one')).toBeUndefined();
        await idempotency.keep(answer('one', { status: 409, until: NOON + 5_000 }));
        expect((await idempotency.find('ann', 'one'))?.status).toBe(409);
      }),
    );

    it(
      'are bounded in number and size',
      onStore(backend, async ({ idempotency }) => {
        await idempotency.keep(answer('other', { actor: 'bob', until: NOON + 500 }));
        for (let number = 0; number <= MAX_ANSWERS; number += 1)
          await idempotency.keep(answer(String(number), { until: NOON + 1_000 + number }));
        expect(await idempotency.find('ann', '0')).toBeUndefined();
        // The answers of one actor push out none of another.
        expect(await idempotency.find('bob', 'other')).toBeDefined();
        expect(await idempotency.find('ann', '1')).toBeDefined();
        expect(await idempotency.find('ann', String(MAX_ANSWERS))).toBeDefined();
        for (const broken of [{ body: 'x'.repeat(300_000) }, { key: '' }, { sha256: 'no' }, { status: 1 }])
          await expect(idempotency.keep(answer('b', broken))).rejects.toMatchObject({ code: 'invalid' });
      }),
    );
  });
}
