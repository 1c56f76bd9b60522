import { systemClock } from '../kernel/system-clock.ts';
import { writeCompiledCode } from '../process/compiled-code.ts';
import { startGateway } from '../process/gateway.ts';
import { StartFailed } from '../process/start-failed.ts';
import type { GatewayOptions } from '../process/gateway-options.ts';
import type { Gateway } from '../process/running-gateway.ts';
import { setFaultHandler } from '../process/process-faults.ts';
import { CannotListen } from '../http/listener/listeners.ts';
import { formatDiagnostics, SettingsRefused } from '../settings/source/diagnostic.ts';
import { HOST_VARIABLE } from '../settings/compile/server-settings.ts';
import { partOf } from '../process/add-on-parts.ts';
import { portOf } from '../process/process-part.ts';
import type { StopSignal } from './stop-signals.ts';
import { welcome } from './welcome.ts';
import { availableParallelism } from 'node:os';

interface ServeOptions {
  readonly configs: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
  /** Number of worker processes. Default: this process serves. */
  readonly workers?: number | undefined;
  /** The first stop signal, which may arrive before anything has started. */
  readonly stopped: Promise<StopSignal>;
}

/** `gatehouse serve`, until the stop. Exit code 1: errors in the settings, or cut requests; 3: cannot listen. */
export async function serveCommand(options: ServeOptions): Promise<number> {
  const hangup = hangupSignal();
  let gateway: Gateway | undefined;
  try {
    const { workers, stopped } = options;
    const started = { ...options, onFaults: setFaultHandler };
    const starting = workers === undefined ? startGateway(started) : startSeveral(started, workers);
    gateway = await unlessStopped(starting, stopped);
  } catch (error) {
    return explainFailure(error, options.env);
  }
  if (!gateway) {
    process.stderr.write('gatehouse: stopped before it served\n');
    return 0;
  }
  hangup.listen(() => void gateway.reload());
  process.stderr.write(formatDiagnostics(gateway.warnings, 'pretty'));
  options.out(welcome(gateway, options.env));
  // A checkout builds the page meanwhile, for the person at the terminal: elsewhere when it is opened.
  if (gateway.admin && process.stdout.isTTY) void portOf(gateway.parts, 'console')?.page('');
  const signal = await options.stopped;
  writeCompiledCode();
  // The delay is for load balancers; with Ctrl-C there is none.
  const { cut } = await gateway.drain({ delay: signal === 'SIGTERM' });
  if (cut === 0) return 0;
  process.stderr.write(
    `gatehouse: stopped; ${cut} ${cut === 1 ? 'request' : 'requests'} had to be cut (drain.timeout)\n`,
  );
  return 1;
}

/** Time for a start to finish after a stop signal, so that everything it has opened is closed. */
const START_END_MS = 1000;

/** Waits for the start. Undefined: stopped during the start. */
async function unlessStopped(starting: Promise<Gateway>, stopped: Promise<unknown>): Promise<Gateway | undefined> {
  starting.catch(() => {});
  const givenUp = new Promise<undefined>((resolve) => {
    void stopped.then(() => systemClock.after(START_END_MS, () => resolve(undefined)));
  });
  return Promise.race([starting, givenUp]);
}

/** Handles SIGHUP for the whole life of the process, which it would end otherwise. An early one is kept. */
function hangupSignal(): { listen(listener: () => void): void } {
  let early = false;
  let handle = (): void => void (early = true);
  process.on('SIGHUP', () => handle());
  return {
    listen(listener) {
      handle = listener;
      if (early) listener();
    },
  };
}

function explainFailure(error: unknown, env: ServeOptions['env']): number {
  if (error instanceof SettingsRefused) {
    process.stderr.write(formatDiagnostics(error.diagnostics, 'pretty'));
    process.stderr.write('gatehouse: not started, the settings have errors\n');
    return 1;
  }
  if (error instanceof StartFailed) {
    process.stderr.write(`gatehouse: ${error.message}\n`);
    return 1;
  }
  if (error instanceof CannotListen) {
    const isOfVariable = error.unknownHost !== undefined && error.unknownHost === env[HOST_VARIABLE]?.trim();
    const places = isOfVariable ? `${HOST_VARIABLE}, or ` : '';
    process.stderr.write(`gatehouse: ${error.message}; change ${places}listen, status or admin in server.yaml\n`);
    return 3;
  }
  throw error;
}

export const MAX_WORKERS = 64;

/** Reads `--workers`: a number, or `auto` for one worker per processor. Undefined: neither. */
export function readWorkers(text: string): number | undefined {
  if (text === 'auto') return Math.min(availableParallelism(), MAX_WORKERS);
  const number = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= MAX_WORKERS ? number : undefined;
}

async function startSeveral(options: GatewayOptions, size: number): Promise<Gateway> {
  const start = partOf('startWorkers');
  if (!start) throw new StartFailed('this build has no add-on workers: start it without --workers');
  return start(options, size);
}
