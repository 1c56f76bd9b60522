import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keepOutput, TestFolder } from '../folder.testkit.ts';
import { listKeysCommand } from './list.ts';

const NOW = Date.UTC(2026, 10, 21);
const DIGEST = `sha256:0123456789${'a'.repeat(54)}`;

let folder: TestFolder;
beforeEach(() => {
  folder = new TestFolder();
  folder.write('catalog.yaml', 'providers:\n  - { slug: sim, provider: openai, base_url: "https://sim.example/v1" }\n');
  folder.write('gateway/prod.yaml', 'provider: "@sim"\n');
});
afterEach(() => folder.remove());

async function list(keys: string, format: 'table' | 'json' = 'table', env = {}) {
  folder.write('keys.yaml', keys);
  const output = keepOutput();
  const code = await listKeysCommand({ ...output, dir: folder.path, env, now: NOW, format });
  const here = (text: string) => text.replaceAll(`${folder.path}/`, '');
  return { code, out: here(output.printed.out), err: here(output.printed.err) };
}

describe('keys list', () => {
  test('shows the permissions of each key, and never a key', async () => {
    const keys = `keys:
  - id: all
    digest: ${DIGEST}
  - id: team
    key: \${env:TEAM_KEY}
    expires_at: 2027-01-01T00:00:00Z
    providers: ["@sim"]
    models: [a-*, b]
    configs: [prod]
    inline_configs: true
    default_config: prod
    networks: [10.0.0.0/8]
  - id: none
    key: in-clear-text-0123
    expires_at: 2020-01-01T00:00:00Z
    configs: []
    team: search
`;
    folder.write('teams.yaml', 'teams: { search: {} }\n');
    const { code, out, err } = await list(keys, 'table', { TEAM_KEY: 'canary-of-the-team' });
    // Add-ons have columns of their own behind these.
    const rows = out.split('\n').map((line) => line.split(/ {2,}/).slice(0, 9));
    expect([code, rows]).toEqual([
      0,
      [
        ['ID', 'KEY', 'EXPIRES', 'PROVIDERS', 'MODELS', 'CONFIGS', 'DEFAULT CONFIG', 'NETWORKS', 'TEAM'],
        ['all', 'digest sha256:01234567…', 'never', 'all', 'all', 'all', '-', 'all', '-'],
        [
          'team',
          'reference env:TEAM_KEY',
          '2027-01-01 (in 41 days)',
          '@sim',
          'a-*, b',
          'prod, (inline)',
          'prod',
          '10.0.0.0/8',
          '-',
        ],
        ['none', 'clear text', '2020-01-01 (expired)', 'all', 'all', 'none', '-', 'all', 'search'],
        [''],
      ],
    ]);
    expect(err).toBe('');
    expect(out).not.toMatch(/canary|in-clear-text|aaaa/);
  });

  test('as JSON has every field of every key, null for no limit', async () => {
    const { code, out } = await list(
      `keys: [{ id: a, digest: "${DIGEST}", expires_at: 2026-11-20T23:59:59Z }]`,
      'json',
    );
    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      [
        {
          id: 'a',
          given: 'digest',
          from: 'sha256:01234567…',
          expires_at: '2026-11-20T23:59:59Z',
          expired: true,
          previous_expires_at: null,
          providers: null,
          models: null,
          configs: null,
          inline_configs: false,
          inline_plugins: false,
          default_config: null,
          networks: null,
          metadata: null,
          team: null,
        },
      ],
    ]);
  });

  test.each([
    ['2026-11-21T00:00:00Z', 'expired'],
    ['2026-11-21T00:00:01Z', 'in 1 second'],
    ['2026-11-21T00:59:59Z', 'in 59 minutes'],
    ['2026-11-21T23:59:59Z', 'in 23 hours'],
    ['2026-11-22T12:00:00Z', 'in 1 day'],
    ['2026-11-21T00:30:00+01:00', 'expired'],
  ])('for %s shows: %s', async (at, words) => {
    expect((await list(`keys: [{ id: a, digest: "${DIGEST}", expires_at: ${at} }]`)).out).toContain(`(${words})`);
  });

  test('shows until when the previous key of a rotation is valid', async () => {
    const previous = `{ digest: "sha256:${'b'.repeat(64)}", expires_at: 2026-11-28T00:00:00Z }`;
    const { out } = await list(`keys: [{ id: a, digest: "${DIGEST}", previous: ${previous} }]`);
    expect(out).toContain('never; previous key 2026-11-28 (in 7 days)');
    expect(out).not.toContain('bbbb');
  });

  test('works without the variables and files of the keys', async () => {
    const { code, out } = await list(
      'keys:\n  - { id: a, key: "${env:NOT_HERE}" }\n  - { id: b, key: "${file:no/file}" }\n  - { id: c, key: "${env:NOT_HERE_EITHER}" }\n',
    );
    expect(code).toBe(0);
    expect(out).toContain('reference env:NOT_HERE ');
    expect(out).toContain('reference file:no/file');
  });

  test('prints no control characters to the terminal', async () => {
    const { out } = await list(
      `keys:\n  - { id: a, digest: "${DIGEST}", models: ["x\\e[2J\\x9b1m"] }\n  - { id: b, key: "\${file:no\\e[2J}" }\n`,
    );
    expect(out).toContain('x\uFFFD[2J\uFFFD1m');
    expect(out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  test('does not print a key that was pasted into the wrong field', async () => {
    for (const format of ['table', 'json'] as const) {
      const { out } = await list(`keys: [{ id: a, digest: "${DIGEST}", models: [sk-0123456789abcdef] }]`, format);
      expect(out).toContain('[secret]');
      expect(out).not.toContain('0123456789abcdef');
    }
  });

  test('says so if there are no keys', async () => {
    expect(await list('keys: []\n')).toEqual({ code: 0, out: 'keys.yaml has no keys\n', err: '' });
    expect(await list('keys: []\n', 'json')).toEqual({ code: 0, out: '[]\n', err: '' });
  });

  test('reports errors of keys.yaml at their place, exit code 1, and ignores those of other files', async () => {
    folder.write('server.yaml', 'lisen: {}\n');
    expect(await list('keys:\n  - { id: a, kee: x }\n')).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^keys\.yaml:2:14: unknown key `kee`/),
    });
    expect((await list('keys: []\n')).code).toBe(0);
  });

  test('without the folder has exit code 2', async () => {
    const output = keepOutput();
    const dir = `${folder.path}/nowhere`;
    expect(await listKeysCommand({ ...output, dir, env: {}, now: NOW, format: 'table' })).toBe(2);
    expect(output.printed.err).toContain('there is no such folder');
  });
});
