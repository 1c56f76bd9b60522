import { fork, type ChildProcess } from 'node:child_process';
import { on } from 'node:events';
import { constants, setPriority } from 'node:os';
import { moduleFile } from '../../../core/kernel/package-root.ts';

const PROCESS = moduleFile('src/cli/job');
const MAX_JOBS = 2;
/** The last message of a process has no event. */
interface JobMessage {
  readonly event?: object;
  readonly failed?: string;
}

export interface RunningJob {
  /** Rejects when the process ends before its work. */
  readonly events: AsyncIterable<object>;
  stop(): void;
}

const running = new Set<ChildProcess>();

/**
 * Work that takes seconds, which a process that serves does not have: it runs in a process of low priority. Input and events are plain values.
 * The process ends with the reader of its events, and after `limitMs`. Undefined: too many run already.
 */
export function runJob(
  task: { readonly name: string; readonly input: unknown },
  limitMs: number,
): RunningJob | undefined {
  if (running.size >= MAX_JOBS) return undefined;
  // It gets no variable of the environment: the input has what it needs. No signal opens the inspector. `advanced` keeps maps.
  const child = fork(PROCESS, [], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    env: {},
    execArgv: ['--disable-sigusr1'],
  });
  running.add(child);
  const stop = (): void => void child.kill('SIGKILL');
  const late = setTimeout(stop, limitMs);
  const ended = (): void => {
    clearTimeout(late);
    running.delete(child);
  };
  child.once('exit', ended).once('error', ended);
  const messages = on(child, 'message', { close: ['exit'] });
  if (child.pid !== undefined) lower(child.pid);
  child.send(task, () => {});
  return { events: events(), stop };

  async function* events(): AsyncGenerator<object> {
    try {
      for await (const [message] of messages as AsyncIterable<[JobMessage]>) {
        if (message.failed !== undefined) throw new Error(message.failed);
        if (!message.event) return;
        yield message.event;
      }
      throw new Error(`its process ended before its work, which takes ${limitMs / 1000} s at most`);
    } finally {
      stop();
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
