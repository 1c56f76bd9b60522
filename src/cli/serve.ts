import { SettingsRefused, startGateway, type Gateway } from '../server/gateway.ts';
import { CannotListen } from '../server/listeners.ts';
import { formatDiagnostics } from '../settings/diagnostic.ts';
import { TraceSettingsError } from '../telemetry/trace-settings.ts';
import { welcome } from './welcome.ts';

export interface ServeOptions {
  readonly configs: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
}

/** Running replies have this long to end after SIGTERM or SIGINT; a second signal ends at once. */
const GRACE_MS = 30_000;

/** `gatehouse serve`. Resolves when the gateway has stopped. Exit code 1: the settings have mistakes; 3: it cannot listen. */
export async function serveCommand(options: ServeOptions): Promise<number> {
  let gateway: Gateway;
  const hangup = hangupSignal();
  try {
    gateway = await startGateway(options);
  } catch (error) {
    return explainFailure(error);
  }
  // Before the first word is said: whoever starts the gateway may stop it as soon as it speaks.
  const stopped = stopSignal();
  hangup.heardBy(() => void gateway.reload());
  process.stderr.write(formatDiagnostics(gateway.warnings, 'pretty'));
  options.out(welcome(gateway));
  await stopped;
  process.once('SIGTERM', () => process.exit(1)).once('SIGINT', () => process.exit(1));
  await gateway.close(GRACE_MS);
  return 0;
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

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      process.off('SIGTERM', stop).off('SIGINT', stop);
      resolve();
    };
    process.on('SIGTERM', stop).on('SIGINT', stop);
  });
}

function explainFailure(error: unknown): number {
  if (error instanceof SettingsRefused) {
    process.stderr.write(formatDiagnostics(error.diagnostics, 'pretty'));
    process.stderr.write('gatehouse: not started, the settings have mistakes\n');
    return 1;
  }
  if (error instanceof TraceSettingsError) {
    process.stderr.write(`gatehouse: ${error.message}\n`);
    return 1;
  }
  if (error instanceof CannotListen) {
    process.stderr.write(`gatehouse: ${error.message}; change listen or status in server.yaml\n`);
    return 3;
  }
  throw error;
}
