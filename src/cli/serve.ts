import { systemClock } from '../plugin/index.ts';
import { startGateway, type Gateway } from '../server/gateway.ts';
import { serves } from '../server/process-faults.ts';
import { CannotListen } from '../server/listeners.ts';
import { formatDiagnostics } from '../settings/diagnostic.ts';
import { TraceSettingsError } from '../telemetry/trace-settings.ts';
import { WorkersFailed } from '../server/workers/crew.ts';
import { startWorkers } from './serve-workers.ts';
import { stopSignal } from './stop-signals.ts';
import { welcome } from './welcome.ts';
import { SettingsRefused } from '../settings/refused.ts';

export interface ServeOptions {
  readonly configs: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
  /** Processes that serve, beside this one. Default: this one serves. */
  readonly workers?: number | undefined;
}

/**
 * `gatehouse serve`. Resolves when the gateway has stopped. Exit code 1: the settings have mistakes, or requests were cut when it
 * stopped; 3: it cannot listen.
 */
export async function serveCommand(options: ServeOptions): Promise<number> {
  let gateway: Gateway;
  const hangup = hangupSignal();
  try {
    const { workers } = options;
    gateway = await (workers === undefined ? startGateway(options) : startWorkers(options, workers));
  } catch (error) {
    return explainFailure(error);
  }
  // Before the first word is said: whoever starts the gateway may stop it as soon as it speaks.
  const stopped = stopSignal(process, systemClock, () => process.exit(1));
  serves(gateway);
  hangup.heardBy(() => void gateway.reload());
  process.stderr.write(formatDiagnostics(gateway.warnings, 'pretty'));
  options.out(welcome(gateway));
  const signal = await stopped;
  // No load balancer is in front of who presses Ctrl-C.
  const { cut } = await gateway.drain({ delay: signal === 'SIGTERM' });
  if (cut === 0) return 0;
  process.stderr.write(
    `gatehouse: stopped; ${cut} ${cut === 1 ? 'request' : 'requests'} had to be cut (drain.timeout)\n`,
  );
  return 1;
}

/** SIGHUP from the first moment to the last: without a listener it would end the process. One that comes early is kept. */
function hangupSignal(): { heardBy(listener: () => void): void } {
  let early = false;
  let hear = (): void => void (early = true);
  process.on('SIGHUP', () => hear());
  return {
    heardBy(listener) {
      hear = listener;
      if (early) listener();
    },
  };
}

function explainFailure(error: unknown): number {
  if (error instanceof SettingsRefused) {
    process.stderr.write(formatDiagnostics(error.diagnostics, 'pretty'));
    process.stderr.write('gatehouse: not started, the settings have mistakes\n');
    return 1;
  }
  if (error instanceof TraceSettingsError || error instanceof WorkersFailed) {
    process.stderr.write(`gatehouse: ${error.message}\n`);
    return 1;
  }
  if (error instanceof CannotListen) {
    process.stderr.write(`gatehouse: ${error.message}; change listen, status or admin in server.yaml\n`);
    return 3;
  }
  throw error;
}
