import { fork } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { moduleFile } from '../kernel/package-root.ts';

const PROCESS = moduleFile('src/cli/job');
const MAX_JOBS = 2;

/** What the process of a job gets, and what it tells. */
export interface JobTask {
  readonly name: string;
  readonly input: unknown;
}
export type JobMessage = { readonly event: object } | { readonly failed: string } | { readonly done: true };

export class TooManyJobs extends Error {}

let running = 0;

export interface Job {
  /** Rejects when the process ends before its work. */
  readonly events: AsyncIterable<object>;
  stop(): void;
}

/**
 * Work that takes seconds, which a process that serves does not have: it runs in a process of low priority. Input and events are plain values.
 * Throws TooManyJobs. The process ends with the reader of its events, and after `limitMs`.
 */
export function runJob(task: JobTask, limitMs: number): Job {
  if (running >= MAX_JOBS) throw new TooManyJobs(`${MAX_JOBS} such processes run already.`);
  running += 1;
  const arrived: JobMessage[] = [];
  let wake = (): void => {};
  const tell = (message: JobMessage): void => {
    arrived.push(message);
    wake();
  };
  // It gets no variable of the environment: the input has what it needs. `advanced` keeps maps.
  const child = fork(PROCESS, [], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    env: {},
    // No signal opens the inspector.
    execArgv: ['--disable-sigusr1'],
  });
  child.on('message', tell);
  child.once('error', ({ message }) => tell({ failed: message }));
  child.once('exit', () => {
    clearTimeout(late);
    running -= 1;
    tell({ failed: 'the process ended before its work' });
  });
  const late = setTimeout(() => {
    tell({ failed: `its process was stopped after ${limitMs / 1000} s` });
    child.kill('SIGKILL');
  }, limitMs);
  if (child.pid !== undefined) lower(child.pid);
  child.send(task);
  return { events: events(), stop: () => void child.kill('SIGKILL') };

  async function* events(): AsyncGenerator<object> {
    try {
      for (;;) {
        const message = arrived.shift();
        if (!message) await new Promise<void>((resolve) => (wake = resolve));
        else if ('failed' in message) throw new Error(message.failed);
        else if ('done' in message) return;
        else yield message.event;
      }
    } finally {
      child.kill('SIGKILL');
    }
  }
}

/** A system that refuses runs the job as any other process. */
function lower(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It has ended, or may not be changed.
  }
}
