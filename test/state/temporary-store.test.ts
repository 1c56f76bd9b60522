import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startGateway } from '../../src/core/process/gateway.ts';
import { Fleet, type FleetSettings } from '../cli/workers.testkit.ts';
import { until, writeSettings } from '../support/gateway.ts';

const UNUSED = 'http://127.0.0.1:9';
const SERVER = { state: { store: { type: 'memory' }, owns: ['keys'] } };
let temporary: string;
let fleet: Fleet | undefined;

beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'gatehouse-temporary-'));
  vi.stubEnv('TMPDIR', temporary);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await fleet?.end();
  rmSync(temporary, { recursive: true });
});

const start = (settings: Partial<FleetSettings>): Fleet =>
  (fleet = new Fleet({ upstream: UNUSED, server: SERVER, ...settings }));

const stores = (): string[] => readdirSync(temporary).filter((name) => name.startsWith('gatehouse-state-'));

describe('a store of type memory', () => {
  it.each([
    ['SIGTERM', 'none'],
    ['SIGINT', 'none'],
    ['SIGTERM', '2'],
  ] as const)('is a folder of its user alone, which is gone after %s with %s workers', async (signal, workers) => {
    const gateway = start({ workers });
    await gateway.listens();
    const [folder = '', ...more] = stores();
    expect(more).toEqual([]);
    expect(statSync(join(temporary, folder)).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(temporary, folder))).toContain('state.db');
    gateway.signal(signal);
    expect([await gateway.exited, stores()]).toEqual([0, []]);
  });

  it.each(['none', '2'])('leaves nothing after a start that fails with %s workers', async (workers) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const gateway = start({ workers, server: { ...SERVER, status: { host: '127.0.0.1', port } } });
    expect([await gateway.exited, stores()]).toEqual([3, []]);
    taken.close();
  });

  it('leaves nothing after a signal during the start', async () => {
    const gateway = start({ workers: 'none' });
    await until(() => stores().length === 1, 'it has a folder');
    gateway.signal('SIGTERM');
    expect([await gateway.exited, stores()]).toEqual([0, []]);
  });

  it('needs a temporary folder that can be written', async () => {
    const configs = writeSettings({ server: SERVER });
    vi.stubEnv('TMPDIR', join(temporary, 'absent'));
    const starting = startGateway({ configs, env: {}, logTo: { write() {} } });
    await expect(starting).rejects.toMatchObject({
      diagnostics: [{ file: expect.stringMatching(/server\.yaml$/), message: expect.stringContaining('ENOENT') }],
    });
  });
});
