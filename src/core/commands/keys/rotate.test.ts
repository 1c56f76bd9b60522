import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { digestOf } from '../../settings/compile/api-keys.ts';
import { createKeyRing } from '../../settings/compile/key-ring.ts';
import { loadSettings } from '../../settings/read/load.ts';
import { keepOutput, TestFolder } from '../folder.testkit.ts';
import { keysFiles } from './keys-file.testkit.ts';
import { rotateEntry, rotateKeyCommand } from './rotate.ts';

const NOW = Date.UTC(2026, 10, 21);
const OLD = digestOf('the-old-key');
const KEYS = `# Ours.
keys:
  # The team's.
  - id: team # for search
    digest: ${OLD} # made in May
    models: [a-*]

  - { id: flow, digest: "${digestOf('of-flow')}", expires_at: 2026-11-22T00:00:00Z }
  - { id: given, key: "\${env:NOT_SET}" }
  - { id: gone, digest: "${digestOf('of-gone')}", expires_at: 2026-11-20T00:00:00Z }
`;

let folder: TestFolder;
beforeEach(() => {
  folder = new TestFolder();
  folder.write('catalog.yaml', 'providers:\n  - { provider: openai, base_url: "https://sim.example/v1" }\n');
  folder.write('keys.yaml', KEYS);
});
afterEach(() => folder.remove());

async function rotate(id: string, overlap = '7d', now = NOW) {
  const { printed, ...output } = keepOutput();
  const code = await rotateKeyCommand({ id, overlap }, { ...output, dir: folder.path, env: {}, now });
  return { code, out: printed.out, err: printed.err.replaceAll(folder.path, 'DIR') };
}

async function keyRing(now: number) {
  const { settings } = await loadSettings(folder.path, { env: { NOT_SET: 'given-key-1' }, now: NOW });
  return createKeyRing(settings!.keys, { wall: () => now });
}

describe('keys rotate', () => {
  test('writes a new digest and the previous one with its end, and nothing else', async () => {
    const { code, out, err } = await rotate('team');
    const key = /gatehouse_\S+/.exec(out)?.[0] ?? '';
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('The previous key is valid until 2026-11-28T00:00:00.000Z');
    const written = `"${digestOf(key)}" # made in May\n    previous: { digest: "${OLD}", expires_at: "2026-11-28T00:00:00.000Z" }`;
    expect(folder.read('keys.yaml')).toBe(KEYS.replace(`${OLD} # made in May`, written));
    const ring = await keyRing(NOW + 7 * 86_400_000 - 1);
    for (const valid of [key, 'the-old-key'])
      expect(ring.find(valid, '127.0.0.1')).toMatchObject({ keyId: 'team', models: ['a-*'] });
    const later = await keyRing(NOW + 7 * 86_400_000);
    expect(() => later.find('the-old-key', '127.0.0.1')).toThrow('The previous key of team has expired.');
    expect(later.find(key, '127.0.0.1')).toMatchObject({ keyId: 'team' });
  });

  test('ends the previous key no later than the key itself', async () => {
    expect((await rotate('flow')).code).toBe(0);
    expect(folder.read('keys.yaml')).toContain('expires_at: "2026-11-22T00:00:00.000Z" }');
  });

  test('waits for the end of the rotation before, then replaces its previous key', async () => {
    await rotate('team', '12h');
    const between = folder.read('keys.yaml');
    expect(await rotate('team', '12h', NOW + 3_600_000)).toMatchObject({
      code: 1,
      err: expect.stringContaining('was rotated before'),
    });
    expect(folder.read('keys.yaml')).toBe(between);
    expect((await rotate('team', '12h', NOW + 12 * 3_600_000)).code).toBe(0);
    const after = folder.read('keys.yaml');
    expect(after).toContain('expires_at: "2026-11-22T00:00:00.000Z"');
    expect(after).not.toContain(OLD);
  });

  test.each([
    ['team', '0d', 2, '--overlap'],
    ['team', '7', 2, '--overlap'],
    ['team', '367d', 2, '--overlap'],
    ['taem', '7d', 1, 'did you mean "team"?'],
    ['given', '7d', 1, 'a reference'],
    ['gone', '7d', 1, 'has expired'],
  ])('of %s for %s ends with exit code %i and changes nothing', async (id, overlap, code, words) => {
    expect(await rotate(id, overlap)).toEqual({ code, out: '', err: expect.stringContaining(words) });
    expect(folder.read('keys.yaml')).toBe(KEYS);
  });

  test('never edits a file into anything but the intended content, whatever its layout', () => {
    const rotation = { digest: 'sha256:1', previous: { digest: 'sha256:0', expires_at: '2027-01-01T00:00:00Z' } };
    fc.assert(
      fc.property(keysFiles(), fc.nat(3), ({ text, inside, outside }, at) => {
        const result = rotateEntry(text, at, rotation);
        if ('problem' in result) return;
        const [before, after] = [text, result.text].map((one) => (parse(one) as { keys: object[] }).keys);
        expect(after).toEqual(before!.map((key, index) => (index === at ? { ...key, ...rotation } : key)));
        for (const comment of [...inside.flat(), ...outside]) expect(result.text).toContain(comment);
      }),
    );
  });
});
