import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../../core/settings/read/load.ts';
import { memoryFiles } from '../../../core/settings/source/files.ts';
import { restartKeys } from '../../../core/process/restart-only.testkit.ts';

describe('a restart is needed for', () => {
  it('a store', () => {
    expect(restartKeys({}, { state: { store: { type: 'memory' } } })).toEqual(['state']);
  });

  it('another store, other kinds in it, and how long its keys last', () => {
    expect(
      restartKeys(
        { state: { store: { type: 'sqlite', dir: '/a' } } },
        { state: { store: { type: 'sqlite', dir: '/b' }, owns: ['keys'], when_down: { max_age: '1h' } } },
      ),
    ).toEqual(['state.store.dir', 'state.owns', 'state.when_down.max_age']);
  });
});

it('the fakes of encryption keys and peppers have their form', async () => {
  const files = memoryFiles({
    'c/catalog.yaml': 'providers: []\n',
    'c/keys.yaml': 'keys: [{ id: a, key: "${env:KEY}" }]\n',
    'c/server.yaml': 'state: { store: { type: memory }, encryption_keys: "${env:KEKS}", peppers: "${env:PEPPERS}" }\n',
  });
  const { diagnostics, fakedNames } = await loadSettings('c', { env: {}, files, now: 0, fakeMissing: true });
  expect([diagnostics, fakedNames]).toEqual([[], ['env:KEKS', 'env:PEPPERS', 'env:KEY']]);
});

it('the hash of the settings leaves out what gateways on one machine have of their own: folder and ports', async () => {
  const hashOf = async (dir: string, port: number, host = '127.0.0.1') => {
    const server = { state: { store: { type: 'sqlite', dir: '/s' }, dir }, listen: { host, port } };
    const files = memoryFiles({
      'c/catalog.yaml': 'providers: []\n',
      'c/keys.yaml': 'keys: []\n',
      'c/server.yaml': JSON.stringify(server),
    });
    return (await loadSettings('c', { env: {}, files, now: 0 })).settings!.hash;
  };
  expect(await hashOf('/a', 8001)).toBe(await hashOf('/b', 8002));
  expect(await hashOf('/a', 8001, '127.0.0.2')).not.toBe(await hashOf('/a', 8001));
});
