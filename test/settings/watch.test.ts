import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../src/plugin/testing/index.ts';
import { diskFiles } from '../../src/core/settings/source/files.ts';
import { loadSettings } from '../../src/core/settings/read/load.ts';
import { RecordedFiles } from '../../src/core/settings/source/recorded-files.ts';
import { SettingsWatch, watchFolder, type WatchFolder, watchedPlaces } from '../../src/core/settings/source/watch.ts';
import { until } from '../support/gateway.ts';

const CATALOG = 'providers: [{ slug: sim, provider: simulator }]\n';

let top: string;
let stops: (() => void)[] = [];
beforeEach(() => (top = mkdtempSync(join(tmpdir(), 'gatehouse-watch-'))));
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  rmSync(top, { recursive: true, force: true });
});

function writeFiles(folder: string, key: string, secret = join(top, 'secrets/key')): void {
  mkdirSync(join(folder, 'gateway'), { recursive: true });
  mkdirSync(join(top, 'secrets'), { recursive: true });
  writeFileSync(join(folder, 'server.yaml'), '');
  writeFileSync(join(folder, 'catalog.yaml'), CATALOG);
  writeFileSync(join(folder, 'keys.yaml'), `keys: [{ id: ${key}, key: "\${file:${secret}}" }]\n`);
  writeFileSync(join(folder, 'gateway/prod.yaml'), 'name: prod\n');
  writeFileSync(join(top, 'secrets/key'), `${key}-secret-0123456789\n`);
}

async function read(folder: string) {
  const files = new RecordedFiles(diskFiles);
  const loaded = await loadSettings(folder, { env: {}, files });
  return { files, loaded };
}

/** Reads the folder and watches it with the system's own watcher; counts the notifications, and rereads the folder at each. */
async function startWatching(folder: string) {
  const clock = createFakeClock();
  const seen = { changes: 0, blind: [] as string[], ids: [] as string[] };
  const watch = new SettingsWatch({
    clock,
    watchFolder,
    onChange: () => void next(),
    onBlind: (blind) => void seen.blind.push(blind),
  });
  stops.push(() => watch.stop());
  async function next(): Promise<void> {
    const { files, loaded } = await read(folder);
    seen.ids.push(loaded.settings?.keys.keys[0]?.id ?? 'none');
    await watch.follow(files, 500);
    seen.changes += 1;
  }
  await next();
  const { changes } = seen;
  let expected = changes;
  return {
    seen,
    clock,
    /** The change is noticed, and reported once after the debounce. */
    async noticed(what: string): Promise<void> {
      await until(() => clock.pending.length > 0, `${what} was noticed`);
      await clock.advance(500);
      expected += 1;
      await until(() => seen.changes >= expected, `${what} was reported`);
    },
  };
}

/** As kubelet's AtomicWriter does it: the new folder first, then one rename of the link `..data`. */
function deploy(mount: string, version: string, key: string): void {
  const folder = join(mount, `..2026_11_21_${version}`);
  writeFiles(folder, key);
  const old = deployed(mount);
  symlinkSync(`..2026_11_21_${version}`, join(mount, '..data_tmp'));
  renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
  if (old !== undefined) rmSync(join(mount, old), { recursive: true });
  else
    for (const name of ['server.yaml', 'catalog.yaml', 'keys.yaml', 'gateway'])
      symlinkSync(`..data/${name}`, join(mount, name));
}

function deployed(mount: string): string | undefined {
  try {
    return readlinkSync(join(mount, '..data'));
  } catch {
    return undefined;
  }
}

describe('watching the settings', () => {
  it('notices writing in place, renaming over, and what editors do', async () => {
    const folder = join(top, 'configs');
    writeFiles(folder, 'a');
    const { noticed, seen } = await startWatching(folder);
    appendFileSync(join(folder, 'catalog.yaml'), '# a comment\n');
    await noticed('a write in place');
    writeFileSync(join(folder, 'new.tmp'), `keys: [{ id: b, key: "\${file:${top}/secrets/key}" }]\n`);
    renameSync(join(folder, 'new.tmp'), join(folder, 'keys.yaml'));
    await noticed('a rename over a file');
    execFileSync('sed', ['-i', 's/id: b/id: c/', join(folder, 'keys.yaml')]);
    await noticed('sed -i');
    // vim with `backupcopy=no`: the old file becomes the backup, the new one is written under its name.
    renameSync(join(folder, 'keys.yaml'), join(folder, 'keys.yaml~'));
    writeFileSync(join(folder, 'keys.yaml'), `keys: [{ id: d, key: "\${file:${top}/secrets/key}" }]\n`);
    unlinkSync(join(folder, 'keys.yaml~'));
    await noticed('a save of vim');
    expect(seen.ids).toEqual(['a', 'a', 'b', 'c', 'd']);
  });

  it('notices gateway configs that come and go, a gateway folder that appears, and a server.yaml that appears', async () => {
    const folder = join(top, 'configs');
    writeFiles(folder, 'a');
    rmSync(join(folder, 'gateway'), { recursive: true });
    rmSync(join(folder, 'server.yaml'));
    const { noticed } = await startWatching(folder);
    mkdirSync(join(folder, 'gateway'));
    await noticed('a gateway folder');
    writeFileSync(join(folder, 'gateway/b.yaml'), '');
    await noticed('a new gateway config');
    unlinkSync(join(folder, 'gateway/b.yaml'));
    await noticed('a gateway config that was deleted');
    writeFileSync(join(folder, 'server.yaml'), '');
    await noticed('a new server.yaml');
  });

  it('notices a secret elsewhere that is rotated, and one that was missing', async () => {
    const folder = join(top, 'configs');
    writeFiles(folder, 'a');
    unlinkSync(join(top, 'secrets/key'));
    rmSync(join(top, 'secrets'), { recursive: true });
    const { noticed, seen } = await startWatching(folder);
    expect(seen.ids).toEqual(['none']);
    mkdirSync(join(top, 'secrets'));
    await noticed('the folder of the secret');
    writeFileSync(join(top, 'secrets/key'), 'first-secret-0123456789');
    await noticed('the secret');
    writeFileSync(join(top, 'secrets/key.new'), 'second-secret-0123456789');
    renameSync(join(top, 'secrets/key.new'), join(top, 'secrets/key'));
    await noticed('the rotated secret');
    expect(seen.ids).toEqual(['none', 'none', 'a', 'a']);
  });

  it('follows ConfigMaps: swap after swap of ..data, each told as one change', async () => {
    const mount = join(top, 'mount');
    mkdirSync(mount);
    deploy(mount, '1', 'a');
    const { noticed, seen } = await startWatching(mount);
    for (const key of ['b', 'c', 'd']) {
      deploy(mount, key, key);
      await noticed(`the deployment of ${key}`);
    }
    expect(seen.ids).toEqual(['a', 'b', 'c', 'd']);
    expect(seen.blind).toEqual([]);
  });

  it('follows a link above the settings, as releases are put in place', async () => {
    writeFiles(join(top, 'releases/1/configs'), 'a');
    writeFiles(join(top, 'releases/2/configs'), 'b');
    symlinkSync('releases/1', join(top, 'current'));
    const { noticed, seen } = await startWatching(join(top, 'current/configs'));
    symlinkSync('releases/2', join(top, 'next'));
    renameSync(join(top, 'next'), join(top, 'current'));
    await noticed('the release');
    expect(seen.ids).toEqual(['a', 'b']);
  });

  it('sees a settings folder that was taken away come back', async () => {
    const folder = join(top, 'configs');
    writeFiles(folder, 'a');
    const { noticed, seen } = await startWatching(folder);
    renameSync(folder, join(top, 'away'));
    await noticed('that the folder went');
    renameSync(join(top, 'away'), folder);
    await noticed('that the folder came back');
    expect(seen.ids).toEqual(['a', 'none', 'a']);
  });

  it('tells of a burst of changes once, when the files have been quiet, and of other files not at all', async () => {
    const folder = join(top, 'configs');
    writeFiles(folder, 'a');
    const { clock, seen, noticed } = await startWatching(folder);
    for (const name of ['notes.txt', '.server.yaml.swp', 'key.bak']) writeFileSync(join(folder, name), 'x');
    writeFileSync(join(top, 'secrets/other'), 'x');
    for (let n = 0; n < 5; n += 1) {
      const before = clock.started;
      appendFileSync(join(folder, 'catalog.yaml'), '#\n');
      await until(() => clock.started > before, 'the write was noticed');
      await clock.advance(499);
    }
    expect(seen.changes).toBe(1);
    await noticed('the end of the burst');
    expect(seen.changes).toBe(2);
    expect(clock.pending).toEqual([]);
  });
});

describe('files that are never quiet', () => {
  it('have their changes told after ten times the debounce, and the changes after that anew', async () => {
    const folder = join(top, 'configs');
    writeFiles(folder, 'a');
    const clock = createFakeClock();
    let touch: () => void = () => {};
    const reported: number[] = [];
    const watch = new SettingsWatch({
      clock,
      watchFolder(path, on) {
        if (path === folder) touch = () => on.change('keys.yaml');
        return { close: () => {} };
      },
      onChange: () => void reported.push(clock.now()),
      onBlind: () => {},
    });
    stops.push(() => watch.stop());
    await watch.follow((await read(folder)).files, 500);
    for (let n = 0; n < 201; n += 1) {
      touch();
      await clock.advance(50);
    }
    // The change at 5000 comes just after the telling: the next ten debounces count from it.
    expect(reported).toEqual([5000, 10_000]);
    await clock.advance(500);
    expect(reported).toEqual([5000, 10_000, 10_500]);
  });
});

describe('the watched places', () => {
  it('are every folder where a change can give a file another content, and no others', async () => {
    const mount = join(top, 'mount');
    mkdirSync(mount);
    deploy(mount, '1', 'a');
    const { files } = await read(mount);
    const places = await watchedPlaces(files);
    const real = join(mount, '..2026_11_21_1');
    expect([...places.keys()].sort()).toEqual(
      [join(top), mount, join(top, 'secrets'), real, join(real, 'gateway')].sort(),
    );
    const matters = (folder: string, names: string[]) => names.filter((name) => places.get(folder)!(name));
    expect(matters(mount, ['..data', '..data_tmp', 'keys.yaml', 'x.yaml', 'gateway', 'x'])).toEqual([
      '..data',
      'keys.yaml',
      'x.yaml',
      'gateway',
    ]);
    expect(matters(join(top, 'secrets'), ['key', 'other', 'x.yaml'])).toEqual(['key']);
    expect(matters(top, ['mount', 'secrets'])).toEqual(['mount']);
  });

  it('end at links that lead round in circles', async () => {
    mkdirSync(join(top, 'configs'));
    symlinkSync('catalog.yaml', join(top, 'configs/catalog.yaml'));
    symlinkSync('two', join(top, 'configs/one'));
    symlinkSync('one', join(top, 'configs/two'));
    const files = new RecordedFiles(diskFiles);
    await files.read(join(top, 'configs/one/key'));
    await files.read(join(top, 'configs/catalog.yaml'));
    expect([...(await watchedPlaces(files)).keys()]).toEqual([join(top, 'configs')]);
  });
});

describe('a watcher that fails', () => {
  /** A system whose watchers the test holds. */
  function setup(open: WatchFolder) {
    const clock = createFakeClock();
    const reported = { changes: 0, blind: [] as unknown[] };
    const watch = new SettingsWatch({
      clock,
      watchFolder: open,
      onChange: () => void (reported.changes += 1),
      onBlind: (_, error) => void reported.blind.push(error),
    });
    return { clock, reported, watch };
  }

  it('is reported once for any number of retries, and the other folders are watched', async () => {
    const folder = join(top, 'configs');
    writeFiles(folder, 'a');
    let open = 0;
    const { watch, reported, clock } = setup((path, on) => {
      if (path.endsWith('secrets')) throw new Error('ENOSPC');
      open += 1;
      on.change(path.endsWith('configs') ? 'keys.yaml' : 'nothing');
      return { close: () => void (open -= 1) };
    });
    for (let n = 0; n < 3; n += 1) await watch.follow((await read(folder)).files, 500);
    expect(reported.blind).toEqual([new Error('ENOSPC')]);
    expect(open).toBe(3);
    await clock.advance(500);
    expect(reported.changes).toBe(1);
    watch.stop();
    expect(open).toBe(0);
  });

  it('has the settings read again, for perhaps the folder is another one now', async () => {
    const folder = join(top, 'configs');
    writeFiles(folder, 'a');
    const fail: ((error: unknown) => void)[] = [];
    const { watch, reported, clock } = setup((_, on) => {
      fail.push(on.error);
      return { close: () => {} };
    });
    await watch.follow((await read(folder)).files, 500);
    fail[0]!(new Error('gone'));
    await clock.advance(500);
    expect([reported.changes, reported.blind.length]).toEqual([1, 1]);
  });

  it('does not miss what changed after it was read and before it was watched', async () => {
    const folder = join(top, 'configs');
    writeFiles(folder, 'a');
    const { files } = await read(folder);
    appendFileSync(join(folder, 'catalog.yaml'), '#\n');
    const { watch, reported, clock } = setup(() => ({ close: () => {} }));
    await watch.follow(files, 500);
    await clock.advance(500);
    expect(reported.changes).toBe(1);
  });

  it('says nothing more once it is stopped', async () => {
    const folder = join(top, 'configs');
    writeFiles(folder, 'a');
    const { watch, reported, clock } = setup((_, on) => {
      on.change(null);
      return { close: () => {} };
    });
    await watch.follow((await read(folder)).files, 500);
    watch.stop();
    await clock.advance(5000);
    expect(reported.changes).toBe(0);
  });
});

describe('files of tests', () => {
  it('are no change to what serves, come and go as they may', async () => {
    const folder = join(top, 'configs');
    writeFiles(folder, 'a');
    const { files } = await read(folder);
    writeFileSync(join(folder, 'gateway/prod.test.yaml'), 'cases: []\n');
    expect(await files.stillTrue()).toBe(true);
    const matters = (await watchedPlaces(files)).get(join(realpathSync(folder), 'gateway'));
    expect(matters?.('prod.test.yaml')).toBe(false);
  });
});
