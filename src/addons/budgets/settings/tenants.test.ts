import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GatewayKey, TeamsFile } from '../../../../schemas/types.generated.ts';
import { readStored, type StoredEntity } from './read-stored.ts';
import {
  changesBetween,
  nameOf,
  type StoredObject,
  type StoredObjects,
} from '../../../core/settings/source/stored-objects.ts';
import { digestOf } from '../../../core/settings/compile/api-keys.ts';
import { DigestRing } from '../../../core/settings/compile/key-ring.ts';
import { Tenants } from '../../../core/settings/compile/tenants.ts';
import { runs } from '../../../../test/support/effort.ts';

const NOW = Date.parse('2026-11-23T12:00:00Z');
const FILES: { readonly keys: readonly GatewayKey[]; readonly teams: TeamsFile } = {
  keys: [
    { id: 'in-file', digest: digestOf('in-file'), team: 'filed' },
    { id: 'loose', digest: digestOf('loose'), team: 'stored' },
  ],
  teams: { teams: { filed: { organization: 'acme', budgets: [{ cap: '5 USD', period: 'month' }] } } },
};

let version = 0;
function stored(
  kind: string,
  id: string,
  doc: Record<string, unknown> = {},
  more: Partial<StoredEntity> = {},
): StoredObject {
  version += 1;
  const digests = kind === 'keys' ? [{ slot: 0, digest: digestOf(id), validFrom: 0, validTo: undefined }] : [];
  return readStored({ kind, id, doc, digests, version, updatedBy: 'ann', updatedAt: NOW, ...more })!;
}

const objectsOf = (...objects: readonly StoredObject[]): StoredObjects => ({
  known: true,
  objects: new Map(objects.map((object) => [nameOf(object), object])),
});

const tenantsOf = (objects: StoredObjects, timeZone?: string): Tenants =>
  Tenants.of({
    keys: { keys: [...FILES.keys] },
    teams: FILES.teams,
    stored: objects,
    timeZone,
    configIds: new Set(['prod']),
  });

const ringOf = (tenants: Tenants, peppers?: ReadonlyMap<string, Buffer>): DigestRing =>
  new DigestRing(() => tenants, { clock: { wall: () => NOW }, peppers });

function verdict(tenants: Tenants, key: string, peppers?: ReadonlyMap<string, Buffer>): string {
  try {
    return ringOf(tenants, peppers).find(key, '127.0.0.1')?.keyId ?? 'unknown';
  } catch (error) {
    return (error as Error).message;
  }
}

const pathOf = (tenants: Tenants, id: string): string[] => tenants.pathOf({ keyId: id }).map(({ ref }) => ref);
const budgetsOf = (tenants: Tenants, id: string): string[] =>
  tenants
    .pathOf({ keyId: id })
    .flatMap(({ budgets }) => budgets.map((budget) => `${budget.id} ${budget.amount} ${budget.timeZone}`));

const ACME = stored('organizations', 'acme', { metadata: { region: 'eu' } });
const TEAM = stored('teams', 'stored', { organization: 'acme', metadata: { cost: '1' } });

describe('the tenants of files and a store', () => {
  it('are one tree: keys, teams and organizations of either owner, with budgets and limits of the store', () => {
    const tenants = tenantsOf(
      objectsOf(
        ACME,
        TEAM,
        stored('keys', 'batch', { team: 'stored', budgets: [{ cap: '10 tokens', period: 'day' }] }),
        stored('budgets', 'b1', { node: 'team:filed', cap: '2 USD', period: 'day' }),
        stored('budgets', 'b2', {
          node: 'organization:acme',
          cap: '9 USD',
          period: 'month',
          time_zone: 'Asia/Kathmandu',
        }),
        stored('limits', 'l1', { node: 'key:batch', requests: '5/s' }),
      ),
      'Europe/Berlin',
    );
    expect(pathOf(tenants, 'batch')).toEqual(['organization:acme', 'team:stored', 'key:batch']);
    expect(budgetsOf(tenants, 'in-file')).toEqual([
      'organization:acme month usd 9000000000 Asia/Kathmandu',
      'team:filed month usd 5000000000 Europe/Berlin',
      'team:filed day usd 2000000000 Europe/Berlin',
    ]);
    expect(tenants.pathOf({ keyId: 'batch' })[2]?.limits?.requests).toEqual({ count: 5, perMs: 1000 });
    expect(ringOf(tenants).find('batch', '::1')).toMatchObject({
      team: 'stored',
      organization: 'acme',
      metadata: { region: 'eu', cost: '1' },
    });
  });

  it.each([
    ['a team that is not there', 'loose', [ACME], /^The key loose cannot be used: its team "stored" does not exist/],
    [
      'an organization that is not there',
      'in-file',
      [TEAM],
      /its team "filed" names the organization "acme", which does not exist/,
    ],
    [
      'a default config that is not there',
      'x',
      [stored('keys', 'x', { default_config: 'gone' })],
      /its default config "gone"/,
    ],
    [
      'a document that is not valid',
      'x',
      [stored('keys', 'x', { models: 5 })],
      /it is not valid in the state store \(models must be array\)/,
    ],
    [
      'a time zone that is none',
      'in-file',
      [ACME, stored('budgets', 'b', { node: 'team:filed', cap: '1 USD', period: 'day', time_zone: 'Europe/Berln' })],
      /the budget "b" is not valid \(.*no time zone/,
    ],
    [
      'a budget that counts what another counts',
      'in-file',
      [ACME, stored('budgets', 'b', { node: 'team:filed', cap: '1 USD', period: 'month' })],
      /the budget "b" counts what another one of team:filed counts/,
    ],
    [
      'limits twice',
      'loose',
      [
        ACME,
        TEAM,
        stored('limits', 'a', { node: 'team:stored', requests: '1/s' }),
        stored('limits', 'b', { node: 'team:stored', requests: '2/s' }),
      ],
      /team:stored has limits twice/,
    ],
    ['two owners', 'in-file', [ACME, stored('teams', 'filed')], /its team "filed" is in a file and in the state store/],
  ])('refuse the keys that depend on %s', (_, key, objects, message) => {
    expect(verdict(tenantsOf(objectsOf(...objects)), key)).toMatch(message);
  });

  it('refuse keys of the store, and no others, while the store is not known', () => {
    const { objects } = objectsOf(ACME, TEAM, stored('keys', 'batch'));
    const tenants = tenantsOf({ known: false, objects });
    expect([verdict(tenants, 'loose'), verdict(tenants, 'batch'), verdict(tenants, 'else')]).toEqual([
      'loose',
      expect.stringContaining('does not answer'),
      'unknown',
    ]);
  });

  it('know a key by each of its digests in its time, and by a digest with a pepper', () => {
    const pepper = Buffer.alloc(32, 7);
    const digests = [
      { slot: 0, digest: digestOf('new'), validFrom: NOW, validTo: NOW + 1 },
      { slot: 1, digest: digestOf('old'), validFrom: 0, validTo: NOW },
    ];
    const tenants = tenantsOf(
      objectsOf(
        stored('keys', 'turned', {}, { digests }),
        stored(
          'keys',
          'early',
          {},
          { digests: [{ slot: 0, digest: digestOf('early'), validFrom: NOW + 1, validTo: undefined }] },
        ),
        stored('keys', 'off', { disabled: true }),
        stored(
          'keys',
          'peppered',
          {},
          {
            digests: [
              {
                slot: 0,
                digest: `hmac:p1:${createHmac('sha256', pepper).update('secret').digest('hex')}`,
                validFrom: 0,
                validTo: undefined,
              },
            ],
          },
        ),
      ),
    );
    const peppers = new Map([['p1', pepper]]);
    expect(['new', 'old', 'early', 'off', 'secret'].map((key) => verdict(tenants, key, peppers))).toEqual([
      'turned',
      'The previous key of turned has expired.',
      'unknown',
      'The key off is disabled.',
      'peppered',
    ]);
    expect(verdict(tenants, 'secret')).toBe('unknown');
  });

  it('keep the path of a deleted key for the requests that it began', () => {
    const before = tenantsOf(objectsOf(ACME, TEAM, stored('keys', 'batch', { team: 'stored' })));
    const { tenants, before: gone } = before.with({ known: true, changed: [], gone: ['keys/batch'] });
    expect([verdict(tenants, 'batch'), gone.map(({ ref }) => ref)]).toEqual(['unknown', ['key:batch']]);
    expect(tenants.pathOf({ keyId: 'batch' })).toBe(before.pathOf({ keyId: 'batch' }));
    expect(tenants.nodes().map(({ ref }) => ref)).not.toContain('key:batch');
  });

  it('become, change by change, what they would be if they were read anew', () => {
    const kinds = ['organizations', 'teams', 'keys', 'budgets', 'limits'] as const;
    const id = fc.constantFrom('a', 'b', 'filed', 'loose');
    const docOf = {
      organizations: fc.constant({ budgets: [{ cap: '3 USD', period: 'day' }] }),
      teams: fc.record({ organization: fc.constantFrom('a', 'b', 'acme') }, { requiredKeys: [] }),
      keys: fc.record(
        { team: fc.constantFrom('a', 'b', 'filed'), models: fc.constantFrom(['m'], 5) },
        { requiredKeys: [] },
      ),
      budgets: fc.record({
        node: fc.constantFrom('team:a', 'team:filed', 'key:b', 'organization:a'),
        cap: fc.constant('1 USD'),
        period: fc.constantFrom('month', 'total'),
      }),
      limits: fc.record({ node: fc.constantFrom('team:a', 'key:loose'), requests: fc.constantFrom('1/s', '2/s') }),
    };
    const change = fc.oneof(
      ...kinds.map((kind) =>
        fc.tuple(id, docOf[kind]).map(([one, doc]) => stored(kind, one, doc as Record<string, unknown>)),
      ),
      fc.tuple(fc.constantFrom(...kinds), id).map(([kind, one]) => nameOf({ kind, id: one })),
    );
    fc.assert(
      fc.property(fc.array(fc.array(change, { minLength: 1, maxLength: 3 }), { maxLength: 12 }), (writes) => {
        let objects: StoredObjects = objectsOf();
        let tenants = tenantsOf(objects);
        for (const write of writes) {
          const next = new Map(objects.objects);
          for (const one of write) {
            if (typeof one === 'string') next.delete(one);
            else next.set(nameOf(one), one);
          }
          const now = { known: true, objects: next };
          tenants = tenants.with(changesBetween(objects, now)).tenants;
          objects = now;
        }
        expect(describeAll(tenants)).toEqual(describeAll(tenantsOf(objects)));
      }),
      { numRuns: runs(300) },
    );
  });

  it('of changed files compile no key of the store again, unless its team or the names of the configs have changed', () => {
    const objects = objectsOf(
      stored('keys', 'k', { team: 's' }),
      stored('keys', 'l', { team: 'a' }),
      stored('teams', 's'),
    );
    const of = (keyId: string, configId = 'prod', before?: Tenants): Tenants =>
      Tenants.of({
        keys: { keys: [{ id: keyId, digest: digestOf('x') }] },
        teams: { teams: { a: {} } },
        stored: objects,
        configIds: new Set([configId]),
        before,
      });
    const first = of('a');
    const second = of('b', 'prod', first);
    expect(second.key('k')).toBe(first.key('k'));
    expect(second.key('l')).not.toBe(first.key('l'));
    expect([verdict(second, 'x'), second.key('a')]).toEqual(['b', undefined]);
    expect(of('b', 'other', second).key('k')).not.toBe(second.key('k'));
  });

  it('of changed files take what the store has from those before, and are as if they were compiled anew', () => {
    const id = fc.constantFrom('a', 'b', 'filed');
    const team = fc.option(id, { nil: undefined });
    const cap = fc.constantFrom('1 USD', '2 USD');
    // Another key may have the digest of an earlier one.
    const keys = fc.uniqueArray(fc.record({ id, digest: fc.constantFrom('x', 'y', 'z').map(digestOf), team }), {
      selector: ({ digest }) => digest,
    });
    const files = fc.record({
      keys: keys.map((all) => all.filter((one, at) => all.findIndex((other) => other.id === one.id) === at)),
      teams: fc.dictionary(
        id,
        fc.record({ organization: team, budgets: fc.array(fc.record({ cap }), { maxLength: 1 }) }),
      ),
      organizations: fc.dictionary(id, fc.constant({})),
      configIds: fc.constantFrom(new Set(['prod']), new Set(['prod', 'a'])),
    });
    const objects = fc.array(
      fc.oneof(
        fc.tuple(fc.constantFrom('teams', 'organizations'), fc.constantFrom('s', 't'), fc.constant({})),
        fc.tuple(fc.constant('keys'), fc.constantFrom('k', 'l'), fc.record({ team: fc.constantFrom('a', 's') })),
        fc.tuple(fc.constant('keys'), fc.constantFrom('m'), fc.constant({ default_config: 'a' })),
        fc.tuple(
          fc.constant('budgets'),
          fc.constantFrom('b1'),
          fc.constant({ node: 'team:a', cap: '3 USD', period: 'day' }),
        ),
      ),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(files, objects), { minLength: 2, maxLength: 6 }), (states) => {
        let before: Tenants | undefined;
        for (const [{ keys: own, teams, organizations, configIds }, docs] of states) {
          const setup = {
            keys: { keys: own as GatewayKey[] },
            teams: { organizations, teams } as TeamsFile,
            stored: objectsOf(...docs.map(([kind, name, doc]) => stored(kind, name, doc))),
            configIds,
          };
          before = Tenants.of({ ...setup, before });
          expect(describeAll(before, ALL)).toEqual(describeAll(Tenants.of(setup), ALL));
        }
      }),
      { numRuns: runs(300) },
    );
  });
});

const ALL = ['a', 'b', 'filed', 'k', 'l', 'm', 'x', 'y', 'z'];

const describeAll = (tenants: Tenants, ids = ['a', 'b', 'filed', 'loose', 'in-file']): object => ({
  nodes: tenants
    .nodes()
    .map(({ ref, limits, budgets }) => [ref, limits, budgets.map(({ id: name, amount }) => [name, amount]).sort()])
    .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
  keys: ids.map((key) => [verdict(tenants, key).replace(/"[ab]"/, ''), tenants.key(key) && pathOf(tenants, key)]),
});
