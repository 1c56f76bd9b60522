import { createHook } from 'node:async_hooks';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { currentWork } from '../../core/kernel/outside/plugin-work.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import { finding, type Finding } from './finding.ts';

/** What a plugin leaves behind in the process: timers, connections, listeners, rejections. */
export class Leftovers {
  readonly #resources = countsOf(process.getActiveResourcesInfo());
  readonly #listeners = countsOf(listenersOfProcess());
  readonly #rejections = new Set<string>();
  readonly #note = (reason: unknown): void => void this.#rejections.add(messageOf(reason));

  constructor() {
    process.on('unhandledRejection', this.#note);
  }

  /** Ends the watch. Waits for what is about to close. */
  async findings(): Promise<readonly Finding[]> {
    let left: readonly string[] = [];
    for (let turns = 0; turns < 50; turns += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      left = more(process.getActiveResourcesInfo(), this.#resources);
      if (left.length === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 4));
    }
    process.off('unhandledRejection', this.#note);
    const listeners = more(listenersOfProcess(), this.#listeners);
    return [
      ...[...new Set(left)].map((type) => finding('leaks', 'the process', `it leaves ${IN_WORDS[type] ?? type}`)),
      ...listeners.map((name) => finding('leaks', 'the process', `it leaves a listener of "${name}"`)),
      ...[...this.#rejections].map((message) => finding('rejections', 'a promise', `it rejects unhandled: ${message}`)),
    ];
  }
}

const IN_WORDS: Readonly<Record<string, string>> = {
  Timeout: 'a timer',
  TCPSocketWrap: 'a connection',
  TCPServerWrap: 'a port',
};

const listenersOfProcess = (): string[] =>
  process.eventNames().flatMap((name) => process.listeners(name as 'exit').map(() => String(name)));

const countsOf = (names: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};

const more = (names: readonly string[], before: ReadonlyMap<string, number>): readonly string[] =>
  [...countsOf(names)].flatMap(([name, count]) => (count > (before.get(name) ?? 0) ? [name] : []));

/** Asynchronous calls that leave the process, by the names that Node gives their resources. */
const EFFECTS: Readonly<Record<string, string>> = {
  FSREQCALLBACK: 'the file system',
  FSREQPROMISE: 'the file system',
  GETADDRINFOREQWRAP: 'the network',
  TCPWRAP: 'the network',
  TCPCONNECTWRAP: 'the network',
  TLSWRAP: 'the network',
  UDPWRAP: 'the network',
  PIPEWRAP: 'another process',
  PROCESSWRAP: 'another process',
  WORKER: 'a thread',
};

/** Notes the first call of the plugin that a dry run must not make. */
export function watchEffects(plugin: string): { readonly end: () => string | undefined } {
  let seen: string | undefined;
  const note = (what: string | undefined): void => {
    if (what !== undefined && seen === undefined && currentWork()?.plugin === plugin) seen = what;
  };
  const hook = createHook({ init: (_, type) => note(EFFECTS[type]) }).enable();
  const restore = watchSyncFiles(() => note('the file system'));
  return {
    end() {
      hook.disable();
      restore();
      return seen;
    },
  };
}

/** Synchronous calls make no resource: they are wrapped while the plugin runs. */
function watchSyncFiles(note: () => void): () => void {
  const files = fs as unknown as Record<string, unknown>;
  const originals = Object.entries(files).filter(([name]) => name.endsWith('Sync'));
  for (const [name, original] of originals)
    if (typeof original === 'function')
      files[name] = function watched(this: unknown, ...args: unknown[]): unknown {
        note();
        return Reflect.apply(original, this, args);
      };
  syncBuiltinESMExports();
  return () => {
    for (const [name, original] of originals) files[name] = original;
    syncBuiltinESMExports();
  };
}

const RUNS = 30;
/** Half of the text of a request: a plugin that keeps a text of each keeps much more. */
const LARGEST_GROWTH = RUNS * 20_000;

/** Repeats a run. @returns what stays in memory of 30 requests that have ended */
export async function keptAfter(run: () => Promise<object>): Promise<string | undefined> {
  const collect = collector();
  for (let warm = 0; warm < 5; warm += 1) await run();
  await collect();
  const before = process.memoryUsage().heapUsed;
  const exchanges: WeakRef<object>[] = [];
  for (let at = 0; at < RUNS; at += 1) exchanges.push(new WeakRef(await run()));
  await collect();
  const kept = exchanges.filter((one) => one.deref() !== undefined).length;
  if (kept > RUNS / 2) return `it keeps ${kept} of ${RUNS} requests that have ended`;
  const grown = process.memoryUsage().heapUsed - before;
  return grown > LARGEST_GROWTH ? `${RUNS} requests leave ${Math.round(grown / 1024)} KiB in memory` : undefined;
}

/** The collector of garbage, which Node shows only on demand. */
function collector(): () => Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return async () => {
    // What a turn of the event loop uses, a WeakRef keeps until its end.
    for (let times = 0; times < 3; times += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
  };
}
