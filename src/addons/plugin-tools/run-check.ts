import { fork } from 'node:child_process';
import { moduleFile } from '../../core/kernel/package-root.ts';
import type { PluginFinding } from '../../plugin/testing/finding.ts';
import type { CheckedPlugin, CheckMessage, CheckTask } from './check-messages.ts';

const PROCESS = moduleFile('src/addons/plugin-tools/check-process');

export interface CheckLimits {
  /** Longest time without a turn of the event loop, once the process has started. */
  readonly silentMs: number;
  readonly totalMs: number;
}

const LIMITS: CheckLimits = { silentMs: 10_000, totalMs: 180_000 };

/** Checks the plugins of a module in a process of its own, which is killed when it blocks. What they print goes to `print`. */
export function runCheck(
  task: CheckTask,
  print: (text: string) => void,
  { silentMs, totalMs }: CheckLimits = LIMITS,
): Promise<readonly CheckedPlugin[]> {
  return new Promise((resolve, reject) => {
    // `serialization: advanced` keeps the numbers and texts of findings as they are.
    const child = fork(PROCESS, [], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], serialization: 'advanced' });
    const checked: CheckedPlugin[] = [];
    let names: readonly string[] | undefined;
    let fault: PluginFinding | undefined;
    let isDone = false;
    let last = '';
    const stop = (found: PluginFinding): void => {
      fault ??= found;
      child.kill('SIGKILL');
    };
    let silence: NodeJS.Timeout | undefined;
    const heard = (): void => {
      clearTimeout(silence);
      silence = setTimeout(() => stop(blocked(silentMs)), silentMs);
    };
    const total = setTimeout(() => stop(endless(totalMs)), totalMs);
    child.stdout?.on('data', (text: Buffer) => print(text.toString()));
    child.stderr?.on('data', (text: Buffer) => {
      last = lastLine(text.toString()) ?? last;
      print(text.toString());
    });
    child.on('message', (message: CheckMessage) => {
      heard();
      if (message.kind === 'plugins') ({ names } = message);
      if (message.kind === 'checked') checked.push(message);
      if (message.kind === 'failed') fault = unloadable(message.message);
      if (message.kind !== 'done' && message.kind !== 'failed') return;
      isDone = true;
      // A plugin may have left something that keeps the process: it was found.
      child.kill('SIGKILL');
    });
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(silence);
      clearTimeout(total);
      if (!isDone) fault ??= ended(code, last);
      resolve(
        fault
          ? [...checked, { name: names?.[checked.length] ?? task.file, level: undefined, findings: [fault] }]
          : checked,
      );
    });
    // The first message starts the limit of silence: how long a process takes to start says nothing of the plugin.
    child.send(task);
  });
}

const seconds = (ms: number): string => `${ms / 1000} s`;

const lastLine = (text: string): string | undefined =>
  text.split('\n').findLast((line) => /^\w*Error\b/.test(line.trim()));

const blocked = (ms: number): PluginFinding => ({
  rule: 'blocks',
  place: 'the process',
  message: `it blocks the event loop for more than ${seconds(ms)}`,
  remedy: 'End every loop, and do long work in steps or in a thread: all requests of the process wait for it.',
});

const endless = (ms: number): PluginFinding => ({
  rule: 'ends',
  place: 'the process',
  message: `the check has not ended after ${seconds(ms)}`,
  remedy: 'Give every wait a limit.',
});

const unloadable = (message: string): PluginFinding => ({
  rule: 'loads',
  place: 'the module',
  message: `it cannot be loaded: ${message}`,
  remedy: 'Export the result of `definePlugin`, or a list of them, as the default of the module.',
});

const ended = (code: number | null, line: string): PluginFinding => ({
  rule: 'process',
  place: 'the process',
  message: `it ends the process with ${code === null ? 'a signal' : `code ${code}`}${line === '' ? '' : `: ${line.trim()}`}`,
  remedy: 'Catch what timers and callbacks throw, and leave the process alone: a gateway would drain and stop.',
});
