import { describe, expect, test } from 'vitest';
import { isWellFormedKey } from '../../settings/compile/api-keys.ts';
import { memoryFiles } from '../../settings/source/files.ts';
import { createKeyRing } from '../../settings/compile/key-ring.ts';
import { loadSettings } from '../../settings/read/load.ts';
import { createKeyCommand, type CreateKeyOptions } from './create.ts';

const NOW = Date.UTC(2026, 10, 21);

function create(options: Partial<CreateKeyOptions> & { id: string }) {
  let text = '';
  const add = (more: string) => void (text += more);
  const code = createKeyCommand({ now: NOW, out: add, err: add, ...options });
  return { code, text, key: /gatehouse_\S+/.exec(text)?.[0] ?? '', yaml: text.slice(text.indexOf('  - id:')) };
}

async function settingsWith(yaml: string) {
  const files = {
    'c/catalog.yaml': 'providers:\n  - { slug: sim, provider: openai, base_url: "https://sim.example/v1" }\n',
    'c/keys.yaml': `keys:\n${yaml}`,
  };
  const result = await loadSettings('c', { env: {}, files: memoryFiles(files), now: NOW });
  expect(result.diagnostics).toEqual([]);
  return result.settings!;
}

describe('keys create', () => {
  test('prints a key once, and YAML that loads and accepts this key', async () => {
    const { code, text, key, yaml } = create({ id: 'team-search', providers: ['@sim', 'vertex-ai'], expires: '90d' });
    expect([code, isWellFormedKey(key), text.split(key).length - 1]).toEqual([0, true, 1]);
    const settings = await settingsWith(yaml);
    const ring = createKeyRing(settings.keys, { wall: () => NOW });
    expect(ring.find(key, '127.0.0.1')).toMatchObject({ keyId: 'team-search', providers: ['@sim', 'vertex-ai'] });
    const late = createKeyRing(settings.keys, { wall: () => NOW + 90 * 86_400_000 });
    expect(() => late.find(key, '127.0.0.1')).toThrow('expired');
  });

  test('--team puts the key into a team', async () => {
    expect(create({ id: 'a', team: 'search' }).yaml).toContain('    team: search\n');
    expect(create({ id: 'a', team: 'not a team' })).toMatchObject({ code: 2, text: expect.stringContaining('--team') });
  });

  test('prints no limits by default', async () => {
    const { yaml } = create({ id: 'a' });
    const { keys } = await settingsWith(yaml);
    expect(Object.keys(keys.keys[0]!)).toEqual(['id', 'digest']);
  });

  test.each(['0', '007', 'true', 'null', '1e3', '0x1F', 'no'])(
    'quotes an id that YAML could read as another type: %s',
    async (id) => {
      expect((await settingsWith(create({ id }).yaml)).keys.keys[0]?.id).toBe(id);
    },
  );

  test.each([
    ['30m', '2026-11-21T00:30:00.000Z'],
    ['12h', '2026-11-21T12:00:00.000Z'],
    ['90d', '2027-02-19T00:00:00.000Z'],
    ['2027-01-01', '2027-01-01T00:00:00.000Z'],
    ['2027-01-01T12:00Z', '2027-01-01T12:00:00.000Z'],
    ['2027-01-01T12:00:00+02:00', '2027-01-01T10:00:00.000Z'],
  ])('--expires %s is %s', (expires, moment) => {
    expect(create({ id: 'a', expires }).text).toContain(`expires_at: ${moment}\n`);
  });

  test.each([
    '',
    'tomorrow',
    '0d',
    '90',
    '-1d',
    '90y',
    '2026-11-21',
    '2020-01-01',
    '2027-02-30',
    '2027-13-01',
    '2027-01-01T12:00',
    '99999999999d',
  ])('--expires %j is not valid: exit code 2 and no key', (expires) => {
    const { code, text } = create({ id: 'a', expires });
    expect([code, text]).toEqual([2, expect.stringMatching(/^--expires .* is not valid: .*\n$/)]);
  });

  test.each(['', 'a b', '-a', 'ä', 'a\n', 'a'.repeat(65), '../a'])(
    '--id %j is not valid: exit code 2 and no key',
    (id) => {
      expect(create({ id })).toMatchObject({ code: 2, key: '', text: expect.stringContaining('--id') });
    },
  );

  test.each(['', '@', 'a b', '@sim,@other', '@a/b'])(
    '--provider %j is not valid: exit code 2 and no key',
    (provider) => {
      expect(create({ id: 'a', providers: ['@sim', provider] })).toMatchObject({
        code: 2,
        key: '',
        text: expect.stringContaining('--provider'),
      });
    },
  );
});
