import { describe, expect, test } from 'vitest';
import type { GatewayKey, KeysFile, TeamsFile } from '../../../../schemas/types.generated.ts';
import { callerOf } from './key-ring.ts';
import { metadataOf, teamsOfKey } from './key-record.ts';
import { Tenants } from './tenants.ts';

const DIGEST = `sha256:${'b'.repeat(64)}`;
const key = (id: string, more: Partial<GatewayKey> = {}): GatewayKey => ({ id, digest: DIGEST, ...more });
const TEAMS: TeamsFile = {
  organizations: { acme: { metadata: { region: 'eu', cost: '1' } } },
  teams: {
    search: { organization: 'acme', metadata: { cost: '2', tier: 'a' } },
    alone: {},
  },
};
const KEYS: KeysFile = {
  keys: [key('in-search', { team: 'search' }), key('in-alone', { team: 'alone' }), key('free')],
};

describe('the tree of keys', () => {
  const tree = Tenants.of({ teams: TEAMS, keys: KEYS });

  test.each([
    ['in-search', ['organization:acme', 'team:search', 'key:in-search']],
    ['in-alone', ['team:alone', 'key:in-alone']],
    ['free', ['key:free']],
    ['unknown', []],
  ])('has the path of %s, the outer nodes first', (id, path) => {
    expect(tree.pathOf({ keyId: id }).map(({ ref }) => ref)).toEqual(path);
  });

  test('has one node for all keys of a team', () => {
    const two = Tenants.of({
      teams: TEAMS,
      keys: {
        keys: [key('a', { team: 'search' }), { ...key('b', { team: 'search' }), digest: `sha256:${'c'.repeat(64)}` }],
      },
    });
    expect(two.pathOf({ keyId: 'a' })[1]).toBe(two.pathOf({ keyId: 'b' })[1]);
    expect(two.nodes()).toHaveLength(5);
  });
});

test('the metadata of a key replaces that of its team, and the team replaces its organization', () => {
  const own = key('a', { team: 'search', metadata: { tier: 'own' } });
  expect(metadataOf(own, teamsOfKey(own, TEAMS))).toEqual({ region: 'eu', cost: '2', tier: 'own' });
  expect(metadataOf(key('b'), teamsOfKey(key('b'), TEAMS))).toBeUndefined();
});

test('a caller has the team and the organization of its key', () => {
  expect(callerOf(key('a', { team: 'search', owner: 'ann' }), TEAMS)).toMatchObject({
    organization: 'acme',
    team: 'search',
    owner: 'ann',
  });
});
