import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../../../plugin/index.ts';
import type { StateStoreSettings } from '../../../../../schemas/types.generated.ts';
import type { DriverTools } from '../../../../core/ports/store-driver.ts';
import type { StateStore } from '../../../../core/ports/store.ts';
import { Engine } from './engine.ts';
import { storeOver } from './state-store.ts';

/** A store in the thread of the test, for a clock of the test's own: its answers need no more than `clock.advance(0)`. */
export const openInSameThread = async (
  { dir = '' }: StateStoreSettings,
  { keys, clock }: DriverTools,
): Promise<StateStore> => storeIn(dir, keys, clock);

/** The same in a new folder, until the test ends. */
export function sameThreadStore(clock: Clock): StateStore {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-store-'));
  const store = storeIn(folder, '', clock);
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return store;
}

function storeIn(folder: string, keys: string, clock: Clock): StateStore {
  const owner = { pid: process.pid, boot: 'a'.repeat(32), host: 'test' };
  const engine = new Engine({ folder, owner, keys, now: clock.wall() });
  let isOpen = true;
  const call = async (name: keyof Engine['calls'], ...args: readonly unknown[]): Promise<unknown> => {
    const run = engine.calls[name] as (...values: readonly unknown[]) => unknown;
    return run(clock.wall(), ...args);
  };
  const calls = { call } as Parameters<typeof storeOver>[0];
  return storeOver(calls, calls, async () => {
    if (isOpen) engine.close();
    isOpen = false;
  });
}
