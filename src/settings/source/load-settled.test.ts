import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { memoryFiles, sentFiles, type SettingsFiles } from './files.ts';
import { loadSettled } from './load-settled.ts';

const CATALOG = 'providers: [{ slug: sim, provider: simulator }]\n';
const KEYS = 'keys: [{ id: a, key: "${file:/secrets/a}" }]\n';
const GOOD = { 'c/server.yaml': '', 'c/catalog.yaml': CATALOG, 'c/keys.yaml': KEYS, '/secrets/a': 'secret-of-team-a' };

/** The files as they are at each moment. */
const live = (texts: Record<string, string>): SettingsFiles => ({
  read: (path) => memoryFiles(texts).read(path),
  list: (folder) => memoryFiles(texts).list(folder),
});

function load(files: SettingsFiles, more: Partial<Parameters<typeof loadSettled>[1]> = {}) {
  const clock = createFakeClock();
  return { clock, result: loadSettled('c', { env: {}, clock, files, pauseMs: 500, ...more }) };
}

describe('loading one state of the files', () => {
  it('waits for nothing when all is there and quiet', async () => {
    const { clock, result } = load(memoryFiles(GOOD));
    const { loaded, files } = await result;
    expect([loaded.ok, clock.started]).toEqual([true, 0]);
    expect(files.paths).toEqual(expect.arrayContaining(['c/keys.yaml', '/secrets/a']));
    expect(files.folders).toEqual(['c', 'c/gateway']);
  });

  it('gives what another process needs for the same load, whatever has become of the files', async () => {
    const { result } = load(memoryFiles(GOOD));
    const { loaded, files } = await result;
    // As it comes out of the channel between processes.
    const sent = structuredClone(files.contents);
    const elsewhere = await load(sentFiles(() => sent)).result;
    expect([elsewhere.loaded.ok, elsewhere.loaded.settings?.hash]).toEqual([true, loaded.settings!.hash]);
    expect(elsewhere.loaded.settings!.keys.keys[0]!.key!.reveal()).toBe('secret-of-team-a');
  });

  it('reads again when a file changes after it was read, so that no two states are mixed', async () => {
    const other = CATALOG.replace('sim,', 'other,');
    let deployed = false;
    const texts = () => (deployed ? { ...GOOD, 'c/catalog.yaml': other, '/secrets/a': 'secret-of-team-b' } : GOOD);
    const torn: SettingsFiles = {
      list: (folder) => memoryFiles(texts()).list(folder),
      async read(path) {
        const answer = await memoryFiles(texts()).read(path);
        // Both files are replaced at the moment the first of them has been read.
        if (path === 'c/catalog.yaml') deployed = true;
        return answer;
      },
    };
    const { clock, result } = load(torn);
    await clock.advance(500);
    const { loaded } = await result;
    expect(loaded.settings?.catalog.providers[0]?.slug).toBe('other');
    expect(loaded.settings?.keys.keys[0]?.key?.reveal()).toBe('secret-of-team-b');
  });

  it('gives a missing file one more look, because it may be just being replaced', async () => {
    const texts: Record<string, string> = { ...GOOD };
    delete texts['/secrets/a'];
    const { clock, result } = load(live(texts));
    await clock.advance(499);
    texts['/secrets/a'] = 'secret-of-team-a';
    await clock.advance(1);
    expect((await result).loaded.ok).toBe(true);
  });

  it('does not believe what it saw of a file that came back while it looked', async () => {
    let accesses = 0;
    const texts: Record<string, string> = { ...GOOD };
    const { files: before } = await load(memoryFiles(GOOD)).result;
    delete texts['c/keys.yaml'];
    const seen = (): SettingsFiles => {
      // The first access lists the folder.
      if ((accesses += 1) > 1) texts['c/keys.yaml'] = KEYS;
      return memoryFiles(texts);
    };
    const files: SettingsFiles = { read: (path) => seen().read(path), list: (folder) => seen().list(folder) };
    const { clock, result } = load(files, { before });
    await clock.advance(500);
    expect((await result).loaded.ok).toBe(true);
  });

  it('believes that a file is missing when it is still missing then', async () => {
    const texts: Record<string, string> = { ...GOOD };
    delete texts['/secrets/a'];
    const { clock, result } = load(memoryFiles(texts));
    await clock.advance(500);
    const { loaded } = await result;
    expect(loaded.diagnostics.map(({ message }) => message)).toEqual([expect.stringContaining('/secrets/a')]);
    expect(clock.started).toBe(1);
  });

  it.each(['c/server.yaml', 'c/gateway/prod.yaml'])(
    'does not take the gap of a rename for the removal of %s',
    async (path) => {
      const texts: Record<string, string> = {
        ...GOOD,
        'c/gateway/prod.yaml': 'retry: { attempts: 1 }\n',
        'c/gateway/b.yaml': '',
      };
      const { files: before } = await load(memoryFiles(texts)).result;
      const text = texts[path]!;
      delete texts[path];
      const { clock, result } = load(live(texts), { before });
      await clock.advance(499);
      texts[path] = text;
      await clock.advance(1);
      expect((await result).files.changesSince(before)).toEqual([]);
    },
  );

  it('gives up on files that never stand still, and says so', async () => {
    let reads = 0;
    const files: SettingsFiles = {
      list: (folder) => memoryFiles(GOOD).list(folder),
      read: (path) => memoryFiles({ ...GOOD, '/secrets/a': `secret-number-${(reads += 1)}` }).read(path),
    };
    const { clock, result } = load(files);
    await clock.advance(5000);
    const { loaded } = await result;
    expect(loaded.ok).toBe(false);
    expect(loaded.diagnostics.map(({ file, message }) => [file, message])).toEqual([
      ['c', 'the settings kept changing while they were read, 5 times'],
    ]);
  });

  it('tells which files have changed, appeared and gone', async () => {
    const { files: before } = await load(memoryFiles({ ...GOOD, 'c/gateway/a.yaml': '' })).result;
    const { clock, result } = load(memoryFiles({ ...GOOD, 'c/gateway/b.yaml': '', '/secrets/a': 'another-secret' }), {
      before,
    });
    await clock.advance(500);
    expect([...(await result).files.changesSince(before)].sort()).toEqual([
      '/secrets/a',
      'c/gateway/a.yaml',
      'c/gateway/b.yaml',
    ]);
  });
});
