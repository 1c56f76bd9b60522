import { SettingsRefused, startGateway, type Gateway } from '../server/gateway.ts';
import { formatDiagnostics } from '../settings/diagnostic.ts';
import { TraceSettingsError } from '../telemetry/trace-settings.ts';

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
  try {
    gateway = await startGateway(options);
  } catch (error) {
    return explainFailure(error);
  }
  options.out(welcome(gateway));
  await stopSignal();
  process.once('SIGTERM', () => process.exit(1)).once('SIGINT', () => process.exit(1));
  await gateway.close(GRACE_MS);
  return 0;
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
  if (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'EADDRINUSE' || error.code === 'EACCES' || error.code === 'EADDRNOTAVAIL')
  ) {
    process.stderr.write(`gatehouse: cannot listen: ${error.message}; change listen or status in server.yaml\n`);
    return 3;
  }
  throw error;
}

/** The key of the sample settings: published, and held to loopback and the simulator. No other key is ever printed. */
const DEMO_KEY = 'gatehouse-demo-key';

/** What a newcomer needs: where it listens and one line to paste. */
function welcome({ data, status, settings }: Gateway): string {
  const [first] = settings.catalog.providers;
  const model = `@${first?.slug ?? 'SLUG'}/${first?.provider === 'simulator' ? 'demo' : 'MODEL'}`;
  const body = `{"model":"${model}","messages":[{"role":"user","content":"Hello"}]}`;
  const key = settings.keys.keys.some((entry) => entry.key?.reveal() === DEMO_KEY) ? DEMO_KEY : 'YOUR_GATEWAY_KEY';
  return `Gatehouse listens on ${data.url}; status (/metrics, /livez, /readyz) on ${status.url}
Try it:

  curl ${data.url}/v1/chat/completions -H 'x-gateway-api-key: ${key}' -H 'content-type: application/json' -d '${body}'

`;
}
