import { createHook } from 'node:async_hooks';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { currentWork } from '../../core/kernel/outside/plugin-work.ts';
import { messageOf } from '../../core/kernel/outside/thrown.ts';
import { finding, type PluginFinding } from './finding.ts';

/** A handle or a timer of Node, and whether it keeps the process. */
interface Handle {
  hasRef?(): boolean;
}

/** Notes whatever a plugin leaves behind in the process: timers, connections, listeners, rejections. */
export class Leftovers {
  readonly #handles = new Map<number, { readonly keeps: string; readonly handle: Handle }>();
  readonly #hook;
  readonly #listeners = listenersOfProcess();
  readonly #rejections = new Set<string>();
  readonly #note = (reason: unknown): void => void this.#rejections.add(messageOf(reason));

  constructor(plugin: string) {
    this.#hook = createHook({
      init: (id, type, _, handle) => {
        const keeps = RESOURCES[type]?.keeps;
        if (keeps !== undefined && currentWork()?.plugin === plugin) this.#handles.set(id, { keeps, handle });
      },
      destroy: (id) => void this.#handles.delete(id),
    }).enable();
    process.on('unhandledRejection', this.#note);
  }

  /** Ends the watch. Waits for what is about to close. */
  async findings(): Promise<readonly PluginFinding[]> {
    for (let turns = 0; turns < 50 && this.#left().length > 0; turns += 1)
      await new Promise((resolve) => setTimeout(resolve, 4));
    await new Promise((resolve) => setImmediate(resolve));
    this.#hook.disable();
    process.off('unhandledRejection', this.#note);
    const before = new Set(this.#listeners);
    const listeners = listenersOfProcess().filter((one) => !before.has(one));
    return [
      ...this.#left().map((keeps) => finding('leaks', 'the process', `it leaves ${keeps}`)),
      ...(listeners.length > 0 ? [finding('leaks', 'the process', 'it leaves a listener of `process`')] : []),
      ...[...this.#rejections].map((message) => finding('rejections', 'a promise', `it rejects unhandled: ${message}`)),
    ];
  }

  #left(): readonly string[] {
    return [...this.#handles.values()].flatMap(({ keeps, handle }) => (handle.hasRef?.() === false ? [] : keeps));
  }
}

/**
 * Resources by the names that Node gives them. keeps: the words for one that a plugin leaves behind. reaches: where a call
 * with one leads, which a dry run must not.
 */
const RESOURCES: Readonly<Record<string, { readonly keeps?: string; readonly reaches?: string }>> = {
  Timeout: { keeps: 'a timer' },
  TCPSERVERWRAP: { keeps: 'a port' },
  FSEVENTWRAP: { keeps: 'a watched file' },
  STATWATCHER: { keeps: 'a watched file' },
  TCPWRAP: { keeps: 'a connection', reaches: 'the network' },
  UDPWRAP: { keeps: 'a socket', reaches: 'the network' },
  PIPEWRAP: { keeps: 'a pipe', reaches: 'another process' },
  PROCESSWRAP: { keeps: 'a process', reaches: 'another process' },
  WORKER: { keeps: 'a thread', reaches: 'a thread' },
  TCPCONNECTWRAP: { reaches: 'the network' },
  TLSWRAP: { reaches: 'the network' },
  GETADDRINFOREQWRAP: { reaches: 'the network' },
  FSREQCALLBACK: { reaches: 'the file system' },
  FSREQPROMISE: { reaches: 'the file system' },
};

const listenersOfProcess = (): readonly unknown[] =>
  process.eventNames().flatMap((name) => process.rawListeners(name as 'exit'));

/** Notes the first call of the plugin that a dry run must not make. */
export function watchEffects(plugin: string): { readonly end: () => string | undefined } {
  let seen: string | undefined;
  const note = (what: string | undefined): void => {
    if (what !== undefined && seen === undefined && currentWork()?.plugin === plugin) seen = what;
  };
  const hook = createHook({ init: (_, type) => note(RESOURCES[type]?.reaches) }).enable();
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
    // A WeakRef keeps its object until the turn of the event loop ends that has used it.
    for (let times = 0; times < 3; times += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
  };
}
