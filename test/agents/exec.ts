import { spawn } from 'node:child_process';

/** Runs a program, and ends it with all that it has started. */

export interface Ended {
  readonly code: number | undefined;
  readonly output: string;
}

interface Execution {
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly limitMs: number;
}

/** A helper in a process group of its own outlives the agent and keeps its output open. */
const OUTPUT_AFTER_EXIT_MS = 500;

/** Ends the process and its group after `limitMs`. */
export function exec(command: string, args: readonly string[], { cwd, env, limitMs }: Execution): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const { pid, stdout, stderr } = child;
    if (pid === undefined) return void child.once('error', reject);
    let output = '';
    for (const stream of [stdout, stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      killGroup(pid);
    }, limitMs);
    child.once('exit', () => {
      clearTimeout(timer);
      killGroup(pid);
      setTimeout(() => {
        stdout.destroy();
        stderr.destroy();
      }, OUTPUT_AFTER_EXIT_MS);
    });
    child.once('close', (code) => resolve({ code: late ? undefined : (code ?? 128), output }));
  });
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // All of its processes have ended.
  }
}
