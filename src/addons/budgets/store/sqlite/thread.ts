import { parentPort, workerData } from 'node:worker_threads';
import { StateFailure } from '../../../../core/ports/failures.ts';
import { Engine, type EngineCalls, type EngineOptions } from './engine.ts';
import { ReadingEngine } from './store-reader.ts';
import { messageOf } from '../../../../core/kernel/outside/thrown.ts';

// The thread of a store: SQLite is synchronous, and a commit waits for the disk. The thread that serves requests must not.

/** A call, by its name in `EngineCalls`; the time comes first in `args`. */
export interface StoreCall {
  readonly id: number;
  readonly name: keyof EngineCalls | 'close';
  readonly args: readonly unknown[];
}

export interface StoreAnswer {
  /** Id of the call; 0: the store is open. */
  readonly id: number;
  readonly value?: unknown;
  readonly failed?: { readonly code: StateFailure['code'] | undefined; readonly message: string };
}

function failureOf(error: unknown): NonNullable<StoreAnswer['failed']> {
  if (error instanceof StateFailure) return { code: error.code, message: error.message };
  return { code: undefined, message: messageOf(error) };
}

async function answer(engine: Engine | ReadingEngine, { id, name, args }: StoreCall): Promise<StoreAnswer> {
  try {
    if (name === 'close') return { id, value: engine.close() };
    const calls: Readonly<Partial<EngineCalls>> = engine.calls;
    const call = calls[name] as (...values: readonly unknown[]) => unknown;
    return { id, value: await call(...args) };
  } catch (error) {
    return { id, failed: failureOf(error) };
  }
}

function start(port: NonNullable<typeof parentPort>): void {
  let engine: Engine | ReadingEngine;
  try {
    const options = workerData as EngineOptions;
    engine = options.onlyReads ? new ReadingEngine(options) : new Engine(options);
  } catch (error) {
    port.postMessage({ id: 0, failed: failureOf(error) } satisfies StoreAnswer);
    return;
  }
  port.on('message', (call: StoreCall) => {
    void answer(engine, call).then((answered) => {
      port.postMessage(answered);
      if (call.name === 'close') port.close();
    });
  });
  port.postMessage({ id: 0 } satisfies StoreAnswer);
}

if (parentPort) start(parentPort);
