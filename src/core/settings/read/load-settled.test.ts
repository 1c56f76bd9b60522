import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { memoryFiles, sentFiles, type SettingsFiles } from '../source/files.ts';
import { loadSettled } from './load-settled.ts';

const CATALOG = 'providers: [{ slug: sim, provider: openai, base_url: "https://sim.example/v1" }]\n';
const KEYS = 'keys: [{ id: a, key: "${file:/secrets/a}" }]\n';
const GOOD = { 'c/server.yaml': '', 'c/catalog.yaml': CATALOG, 'c/keys.yaml': KEYS, '/secrets/a': 'secret-of-team-a' };

/** Files that follow later changes of `texts`. */
const live = (texts: Record<string, string>): SettingsFiles => ({
  read: (path) => memoryFiles(texts).read(path),
  list: (folder) => memoryFiles(texts).list(folder),
});

function load(files: SettingsFiles, more: Partial<Parameters<typeof loadSettled>[1]> = {}) {
  const clock = createFakeClock();
  return { clock, result: loadSettled('c', { env: {}, clock, files, pauseMs: 500, ...more }) };
}

describe('loadSettled', () => {
  it('does not wait when all files exist and none changes', async () => {
    const { clock, result } = load(memoryFiles(GOOD));
    const { loaded, files } = await result;
    expect([loaded.ok, clock.started]).toEqual([true, 0]);
    expect(files.paths).toEqual(expect.arrayContaining(['c/keys.yaml', '/secrets/a']));
    expect(files.folders).toEqual(['c', 'c/gateway', 'c/prompts']);
  });

  it('records contents from which another process loads the same settings, even if the files have changed', async () => {
    const { result } = load(memoryFiles(GOOD));
    const { loaded, files } = await result;
    // A structured clone, as the channel between processes makes it.
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

  it('retries once for a missing file, which may be in the middle of a replacement', async () => {
    const texts: Record<string, string> = { ...GOOD };
    delete texts['/secrets/a'];
    const { clock, result } = load(live(texts));
    await clock.advance(499);
    texts['/secrets/a'] = 'secret-of-team-a';
    await clock.advance(1);
    expect((await result).loaded.ok).toBe(true);
  });

  it('discards a load during which a missing file came back', async () => {
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

  it('reports a file that is still missing after the retry', async () => {
    const texts: Record<string, string> = { ...GOOD };
    delete texts['/secrets/a'];
    const { clock, result } = load(memoryFiles(texts));
    await clock.advance(500);
    const { loaded } = await result;
    expect(loaded.diagnostics.map(({ message }) => message)).toEqual([expect.stringContaining('/secrets/a')]);
    expect(clock.started).toBe(1);
  });

  it.each(['c/server.yaml', 'c/gateway/prod.yaml'])(
    'does not treat the gap during a rename as the removal of %s',
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

  it('gives up on files that never stop changing, with a diagnostic', async () => {
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

  it('lists the files that have changed, appeared or disappeared', async () => {
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
