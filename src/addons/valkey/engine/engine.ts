import type { Logger } from 'pino';
import type { Clock } from '../../../plugin/index.ts';
import type { Job, SharedFamilies } from './metrics.ts';
import type { EngineAddress } from '../settings/shared.ts';
import { connectClient, type Argument, type Client } from './client.ts';
import { TooSlow, within } from './within.ts';

const CONNECT_MS = 500;
const COMMAND_MS = 100;
/** Failures in a row after which the engine counts as away. */
const MOST_FAILURES = 5;
/** Time between two attempts to reach an engine that is away. */
const PROBE_MS = 1000;

interface EngineSetup {
  readonly address: EngineAddress;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  readonly families: SharedFamilies;
}

interface AskOptions {
  readonly limitMs?: number;
  /** Strings of the answer are bytes. */
  readonly bytes?: boolean;
}

/** The engine did not get the command: it is away. */
class EngineAway extends Error {}

/**
 * Valkey or Redis over one connection. After five failures in a row, or when the connection is lost, it is away: nothing waits for it
 * until a new connection has answered, which is tried once a second. A connection that hangs is never used again.
 */
export class SharedEngine {
  readonly #setup: EngineSetup;
  readonly #channels = new Map<string, (message: string) => void>();
  readonly #onUp: (() => void)[] = [];
  #client: Client | undefined;
  #failures = 0;
  #said = false;
  #stopped = false;
  #cancelProbe: (() => void) | undefined;

  constructor(setup: EngineSetup) {
    this.#setup = setup;
    setup.families.sharedUp.set({}, 0);
  }

  get isUp(): boolean {
    return this.#client !== undefined;
  }

  /** Called each time the engine can be used again. */
  onUp(listener: () => void): void {
    this.#onUp.push(listener);
  }

  /** Resolves when the engine answers, or is away. */
  async start(): Promise<void> {
    await this.#connect();
  }

  /** Hears messages from now on; those that are published while the engine is away are lost. */
  subscribe(channel: string, listener: (message: string) => void): void {
    this.#channels.set(channel, listener);
  }

  /**
   * Sends a command. The answer is not checked.
   * @throws EngineAway, TooSlow, or an error of the engine
   */
  async ask(
    job: Job,
    args: readonly Argument[],
    { limitMs = COMMAND_MS, bytes = false }: AskOptions = {},
  ): Promise<unknown> {
    const client = this.#client;
    if (!client) {
      this.#count(job, 'away');
      throw new EngineAway('the engine is away');
    }
    try {
      const answer = await within(client.send(args, bytes), limitMs, this.#setup.clock);
      this.#failures = 0;
      this.#count(job, 'ok');
      return answer;
    } catch (error) {
      // The engine has forgotten a script, as after a restart: it is sent once more.
      if (isUnknownScript(error)) throw error;
      this.#count(job, error instanceof TooSlow ? 'slow' : 'failed');
      this.#failures += 1;
      if (this.#failures >= MOST_FAILURES) this.#lose(client, error);
      throw error;
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelProbe?.();
    this.#client?.destroy();
    this.#client = undefined;
  }

  async #connect(): Promise<void> {
    const { address, clock } = this.#setup;
    let made: Client | undefined;
    try {
      const client = await connectClient(address, {
        clock,
        limitMs: CONNECT_MS,
        onLost: (error) => this.#lose(made, error),
      });
      made = client;
      await within(client.send(['PING'], false), COMMAND_MS, clock);
      for (const [channel, listener] of this.#channels)
        await within(client.subscribe(channel, listener), COMMAND_MS, clock);
      this.#count('connect', 'ok');
      this.#use(client);
    } catch (error) {
      made?.destroy();
      this.#count('connect', error instanceof TooSlow ? 'slow' : 'failed');
      this.#away(error);
    }
  }

  #use(client: Client): void {
    if (this.#stopped || client.isLost) {
      client.destroy();
      if (!this.#stopped) this.#away(new EngineAway('the connection was lost'));
      return;
    }
    this.#client = client;
    this.#failures = 0;
    this.#setup.families.sharedUp.set({}, 1);
    if (this.#said) this.#setup.log.info('the shared engine answers again');
    this.#said = false;
    for (const listener of this.#onUp) listener();
  }

  /** Commands that wait for an answer on this connection are rejected. */
  #lose(client: Client | undefined, error: unknown): void {
    if (client === undefined || this.#client !== client) return;
    this.#client = undefined;
    client.destroy();
    this.#away(error);
  }

  #away(error: unknown): void {
    if (this.#stopped) return;
    this.#setup.families.sharedUp.set({}, 0);
    // One outage is one line.
    if (!this.#said)
      this.#setup.log.warn(
        { reason: reasonOf(error) },
        'the shared engine is away; limits are divided, and requests are served',
      );
    this.#said = true;
    this.#cancelProbe = this.#setup.clock.after(PROBE_MS, () => void this.#connect());
  }

  #count(job: Job, result: 'ok' | 'slow' | 'failed' | 'away'): void {
    this.#setup.families.sharedCommands.add({ job, result });
  }
}

export const isUnknownScript = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('NOSCRIPT');

/**
 * The kind of an error. Never its message: an engine without HELLO repeats the command that it refuses, with the password
 * (`ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' …`).
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error instanceof TooSlow) return 'no answer in time';
  return /^[A-Z]{2,20}(?= )/.exec(error.message)?.[0] ?? error.name;
}
