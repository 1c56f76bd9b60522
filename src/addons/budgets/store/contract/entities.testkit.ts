import { describe, expect, it } from 'vitest';
import { MAX_CHANGES, MAX_DOC_BYTES, type EntityChange, type Entities } from '../../../../core/ports/entities.ts';
import { ANN, NOON, onStore, type Backend } from './opened-store.testkit.ts';

const DIGEST = `sha256:${'a1'.repeat(32)}`;
const OTHER = `sha256:${'b2'.repeat(32)}`;
const digest = (text: string, slot = 0) => ({ slot, digest: text, last4: 'wxyz', validFrom: NOON, validTo: undefined });
const team = (id: string, doc = {}): EntityChange => ({ op: 'put', kind: 'teams', id, doc });
const key = (id: string, ...digests: string[]): EntityChange => ({
  op: 'put',
  kind: 'keys',
  id,
  doc: { team: 'search' },
  digests: digests.map((text, slot) => digest(text, slot)),
});
const ids = async (entities: Entities, since = 0): Promise<string[]> =>
  (await entities.load(since)).changed.map(({ kind, id }) => `${kind}/${id}`);

/** The contract of `Entities`. */
export function describeEntities(backend: Backend): void {
  const on = (test: Parameters<typeof onStore>[1]) => onStore(backend, test);

  describe(`entities in ${backend.name}`, () => {
    it(
      'are loaded as they were written, with one version for each write',
      on(async ({ entities }) => {
        const { epoch, ...empty } = await entities.load(0);
        expect(empty).toEqual({ version: 0, at: NOON, changed: [], gone: [] });
        expect(
          await entities.write([team('search', { name: 'Süche 🚀', tags: [1, null, true] }), key('ci', DIGEST)], ANN),
        ).toBe(1);
        expect(await entities.write([team('ads')], ANN)).toBe(2);
        expect(await entities.load(0)).toEqual({
          version: 2,
          epoch,
          at: NOON,
          changed: [
            {
              kind: 'keys',
              id: 'ci',
              version: 1,
              doc: { team: 'search' },
              sealed: [],
              digests: [digest(DIGEST)],
              updatedBy: 'ann',
              updatedAt: NOON,
            },
            {
              kind: 'teams',
              id: 'ads',
              version: 2,
              doc: {},
              sealed: [],
              digests: [],
              updatedBy: 'ann',
              updatedAt: NOON,
            },
            {
              kind: 'teams',
              id: 'search',
              version: 1,
              doc: { name: 'Süche 🚀', tags: [1, null, true] },
              sealed: [],
              digests: [],
              updatedBy: 'ann',
              updatedAt: NOON,
            },
          ],
          gone: [],
        });
        expect(await ids(entities, 1)).toEqual(['teams/ads']);
        expect(await ids(entities, 2)).toEqual([]);
      }),
    );

    it(
      'belong to an epoch, and a later one says whether an operator has accepted it',
      on(async ({ entities, audit }, clock) => {
        const { epoch: first } = await entities.load(0);
        expect([first.id.length, first.accepted]).toEqual([32, false]);
        const restored = await entities.begin({ accepted: false, reason: 'a copy of noon' }, ANN);
        await clock.advance(1);
        const accepted = await entities.begin({ accepted: true, reason: 'seen' }, ANN);
        const later = await entities.begin({ accepted: true, reason: 'seen again' }, ANN);
        expect([restored.accepted, accepted.accepted, (await entities.load(0)).epoch]).toEqual([false, true, later]);
        const all = [first, restored, accepted, later];
        expect(new Set(all.map(({ id }) => id)).size).toBe(4);
        expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).toSorted((one, other) => one - other));
        expect(new Set(all.map(({ at }) => at)).size).toBe(4);
        expect((await audit.rows({})).map(({ action, reason }) => [action, reason])).toEqual([
          ['accept_rollback', 'seen again'],
          ['accept_rollback', 'seen'],
          ['restore', 'a copy of noon'],
        ]);
      }),
    );

    it(
      'change all or none in one write',
      on(async ({ entities, audit }) => {
        await entities.write([team('search'), key('ci', DIGEST)], ANN);
        const failing: EntityChange[] = [
          { ...team('search', { changed: true }), ifVersion: 1 },
          { op: 'delete', kind: 'keys', id: 'ci' },
          { ...key('new', OTHER) },
          { op: 'delete', kind: 'teams', id: 'missing' },
        ];
        await expect(entities.write(failing, ANN)).rejects.toMatchObject({ code: 'not_found' });
        const { version, changed, gone } = await entities.load(0);
        expect([version, changed.map(({ id, doc, digests }) => [id, doc, digests.length]), gone]).toEqual([
          1,
          [
            ['ci', { team: 'search' }, 1],
            ['search', {}, 0],
          ],
          [],
        ]);
        expect((await audit.rows({})).map(({ seq }) => seq)).toEqual([2, 1]);
        expect(await entities.write([key('new', OTHER)], ANN)).toBe(2);
      }),
    );

    it(
      'are refused to a writer that has seen another version',
      on(async ({ entities }) => {
        await entities.write([team('search')], ANN);
        await entities.write([{ ...team('search', { turn: 2 }), ifVersion: 1 }], ANN);
        for (const ifVersion of [0, 1, 3])
          await expect(entities.write([{ ...team('search'), ifVersion }], ANN)).rejects.toMatchObject({
            code: 'conflict',
          });
        await expect(entities.write([{ ...team('ads'), ifVersion: 1 }], ANN)).rejects.toMatchObject({
          code: 'conflict',
        });
        expect(await entities.write([{ ...team('ads'), ifVersion: 0 }], ANN)).toBe(3);
      }),
    );

    it(
      'keep the ids of deleted objects, which later loads name',
      on(async ({ entities }) => {
        await entities.write([team('search'), key('ci', DIGEST)], ANN);
        await entities.write([{ op: 'delete', kind: 'keys', id: 'ci' }], ANN);
        expect(await entities.load(1)).toMatchObject({ changed: [], gone: [{ kind: 'keys', id: 'ci' }] });
        await expect(entities.write([key('ci', DIGEST)], ANN)).rejects.toMatchObject({ code: 'id_gone' });
        expect(await entities.write([key('ci-2', DIGEST)], ANN)).toBe(3);
      }),
    );

    it(
      'give one digest to one key, with a second slot for a rotation',
      on(async ({ entities }) => {
        await entities.write([key('ci', DIGEST)], ANN);
        await expect(entities.write([key('thief', DIGEST)], ANN)).rejects.toMatchObject({ code: 'digest_taken' });
        await entities.write([key('ci', DIGEST, OTHER)], ANN);
        await entities.write([{ op: 'put', kind: 'keys', id: 'ci', doc: { team: 'ads' } }], ANN);
        expect((await entities.load(0)).changed).toMatchObject([
          { doc: { team: 'ads' }, digests: [{ slot: 0 }, { slot: 1, digest: OTHER }] },
        ]);
        await entities.write([key('ci', OTHER)], ANN);
        expect(await entities.write([key('next', DIGEST)], ANN)).toBe(5);
      }),
    );

    it(
      'seal secrets, each in its own place',
      on(async ({ entities, audit }) => {
        const secret = 'canary-4711';
        await entities.write(
          [{ ...team('search'), secrets: { webhook: secret, other: 'second' } } as EntityChange],
          ANN,
        );
        await entities.write([team('search', { turn: 2 })], ANN);
        expect((await entities.load(0)).changed[0]!.sealed).toEqual(['other', 'webhook']);
        expect(await entities.unseal({ kind: 'teams', id: 'search' }, 'webhook')).toBe(secret);
        await entities.write([{ ...team('search'), secrets: { other: undefined } } as EntityChange], ANN);
        await expect(entities.unseal({ kind: 'teams', id: 'search' }, 'other')).rejects.toMatchObject({
          code: 'not_found',
        });
        const shown = JSON.stringify([await entities.load(0), await audit.rows({})]);
        expect(shown).not.toContain('canary');
        expect(shown).toMatch(/\\"webhook\\":\\"[0-9a-f]{8}\\"/);
        await entities.write([{ op: 'delete', kind: 'teams', id: 'search' }], ANN);
        await expect(entities.unseal({ kind: 'teams', id: 'search' }, 'webhook')).rejects.toMatchObject({
          code: 'not_found',
        });
      }),
    );

    it(
      'hint at writes until a watcher leaves',
      on(async ({ entities }) => {
        const hints: number[] = [];
        const first = Promise.withResolvers<void>();
        const leave = entities.watch((version) => (hints.push(version), first.resolve()));
        await entities.write([team('search')], ANN);
        await first.promise;
        leave();
        await entities.write([team('ads')], ANN);
        expect(hints).toEqual([1]);
      }),
    );

    it(
      'know the last use of a key, in whatever order uses arrive',
      on(async ({ entities }) => {
        await entities.write([key('ci', DIGEST)], ANN);
        const use = (at: number) => ({ keyId: 'ci', at: NOON + at, address: `10.0.0.${at}` });
        for (const at of [2, 3, 1]) await entities.seen([use(at)]);
        await entities.seen([{ ...use(1), keyId: 'unknown' }]);
        expect(await entities.lastUses(['ci', 'unknown'])).toEqual([use(3)]);
      }),
    );

    const wrong: readonly (readonly [string, readonly EntityChange[]])[] = [
      ['no change', []],
      ['too many changes', Array.from({ length: MAX_CHANGES + 1 }, (_, index) => team(`t${index}`))],
      ['one object twice', [team('a'), team('a')]],
      ['an id with other characters', [team('a b')]],
      ['an unknown kind', [{ ...team('a'), kind: 'colours' } as unknown as EntityChange]],
      ['a document that is a list', [team('a', [] as object)]],
      ['a document with NaN', [team('a', { n: NaN })]],
      ['a document with undefined', [team('a', { n: undefined })]],
      ['a document that is too large', [team('a', { text: 'x'.repeat(MAX_DOC_BYTES) })]],
      ['a team with digests', [{ ...key('a', DIGEST), kind: 'teams' }]],
      ['a digest that is none', [key('a', 'sha256:zz')]],
      ['two digests in one slot', [{ ...key('a'), digests: [digest(DIGEST), digest(OTHER)] } as EntityChange]],
    ];
    it.each(wrong)('refuse %s', (_, changes) =>
      on(async ({ entities }) => {
        await expect(entities.write(changes, ANN)).rejects.toMatchObject({ code: 'invalid' });
        expect((await entities.load(0)).version).toBe(0);
      })(),
    );
  });
}
