import { startSimulator, type Simulator } from './server.ts';

// One per process, shared by all entries and snapshots: a reload must not break the streams that run on it.
let starting: Promise<Simulator> | undefined;
let running: Simulator | undefined;

export async function openInProcess(): Promise<Simulator> {
  starting ??= startSimulator({ background: true });
  try {
    return (running = await starting);
  } catch (error) {
    starting = undefined;
    throw error;
  }
}

export async function closeInProcess(): Promise<void> {
  const simulator = running;
  starting = undefined;
  running = undefined;
  await simulator?.close();
}

/** Before the simulator has started, the URL has port 0, which explain shows. */
export const inProcessUrl = (): string => running?.url ?? 'http://127.0.0.1:0';
