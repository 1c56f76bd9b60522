import { describe, expect, it } from 'vitest';
import type { GatewayKey, TeamsFile } from '../../../schemas/types.generated.ts';
import { Secret, type NewCaller } from '../../plugin/index.ts';
import { DigestRing } from '../settings/compile/key-ring.ts';
import { Tenants } from '../settings/compile/tenants.ts';
import { callerMaker } from './plugin-callers.ts';

const NOW = Date.UTC(2026, 10, 30);
const keyOf = (id: string, more: Partial<GatewayKey> = {}): GatewayKey => ({
  id,
  key: new Secret(`secret-of-${id}`, 'env:KEY'),
  ...more,
});
const KEYS = [
  keyOf('good', { team: 'search', models: ['m'] }),
  keyOf('old', { expires_at: '2026-01-01T00:00:00Z' }),
  keyOf('off', { disabled: true }),
  keyOf('near', { networks: ['10.0.0.0/8'] }),
];
const TEAMS: TeamsFile = {
  organizations: { other: {}, acme: { metadata: { plan: 'gold', region: 'eu' } } },
  teams: { search: { organization: 'acme', metadata: { region: 'us' } }, alone: {} },
};

function makerOf(entry = ['auth', 'limit', 'limit-tokens']) {
  const tenants = Tenants.of({ keys: { keys: KEYS }, teams: TEAMS });
  const keys = new DigestRing(() => tenants, { clock: { wall: () => NOW } });
  return callerMaker({ keys, tenants: () => tenants, entry: new Set(entry) });
}

describe('the caller of a key that a plugin names', () => {
  it('is the one of the key', () => {
    expect(makerOf().byId('good', '203.0.113.1')).toMatchObject({ keyId: 'good', team: 'search', models: ['m'] });
  });

  it.each([
    ['none', 'key_misconfigured'],
    ['old', 'expired_api_key'],
    ['off', 'invalid_api_key'],
    ['near', 'network_not_allowed'],
  ])('is refused as the key is: %s', (id, code) => {
    expect(() => makerOf().byId(id, '203.0.113.1')).toThrow(expect.objectContaining({ code }));
  });
});

describe('a caller that a plugin makes', () => {
  it('has the organization and the metadata of its team', () => {
    const caller = makerOf().make({ id: 'ann@example.com', team: 'search', metadata: { desk: '7' }, configs: ['c'] });
    expect(caller).toMatchObject({
      keyId: 'ann@example.com',
      team: 'search',
      organization: 'acme',
      metadata: { plan: 'gold', region: 'us', desk: '7' },
      configs: ['c'],
      inlineConfigs: false,
    });
  });

  it('may have limits of its own', () => {
    const limits = { requests: '60/min', tokens: '5/s', concurrency: 4 };
    expect(makerOf().make({ id: 'ann', limits })).toMatchObject({
      limits: { requests: { count: 60, perMs: 60_000 }, tokens: { count: 5, perMs: 1000 }, concurrency: 4 },
    });
  });

  it.each<[string, NewCaller, RegExp]>([
    ['no id', { id: '' }, /id is not 1 to 128/],
    ['an id with a line break', { id: 'a\nb' }, /id is not 1 to 128/],
    ['the id of a key', { id: 'good' }, /with the id of a gateway key/],
    ['a team that does not exist', { id: 'a', team: 'nowhere' }, /its team "nowhere" does not exist/],
    [
      'an organization that does not exist',
      { id: 'a', organization: 'nowhere' },
      /its organization "nowhere" does not/,
    ],
    [
      'an organization that is not that of its team',
      { id: 'a', team: 'search', organization: 'other' },
      /its organization "other" is not that of its team/,
    ],
    ['a member that does not exist', { id: 'a', limit: { requests: '1/s' } } as NewCaller, /a caller has no "limit"/],
    ['a limit that does not exist', { id: 'a', limits: { request: '1/s' } }, /there is no limit "request"/],
    ['a rate that cannot be read', { id: 'a', limits: { requests: 'many' } }, /is no rate/],
    ['no places', { id: 'a', limits: { concurrency: 0 } }, /no whole number above 0/],
  ])('is refused with %s', (_, caller, message) => {
    expect(() => makerOf().make(caller)).toThrow(
      expect.objectContaining({ code: 'key_misconfigured', message: expect.stringMatching(message) as string }),
    );
  });

  it('is refused with limits that no plugin of the chain keeps', () => {
    expect(() => makerOf(['auth']).make({ id: 'a', limits: { requests: '1/s' } })).toThrow('has no plugin "limit"');
    expect(() => makerOf(['auth', 'limit']).make({ id: 'a', limits: { tokens: '1/s' } })).toThrow('"limit-tokens"');
  });
});
