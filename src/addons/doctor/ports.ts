import type { ServerSettings } from '../../core/settings/compile/server-settings.ts';
import { error, ok, skipped, type Finding } from '../../core/process/finding.ts';
import { get } from 'node:http';
import { createServer } from 'node:net';

interface PortPlace {
  readonly host: string;
  readonly port: number;
}

/** Whether the gateway could listen, or does so already. */
export async function checkPorts(
  { listen, status, admin }: ServerSettings,
  timeoutMs: number,
): Promise<readonly Finding[]> {
  const isServing = status.port !== 0 && (await answersAsGateway(status, timeoutMs));
  const places = Object.entries({ listen, status, ...(admin.enabled && { admin }) });
  return Promise.all(places.map(([name, place]) => checkPort(name, place, isServing)));
}

async function checkPort(name: string, { host, port }: PortPlace, isServing: boolean): Promise<Finding> {
  const check = `port ${port}`;
  if (port === 0) return skipped(check, `\`${name}\` takes a free one`);
  const code = await tryToListen({ host, port });
  if (code === undefined) return ok(check, `free for \`${name}\` on ${host}`);
  if (code === 'EADDRINUSE' && isServing) return ok(check, `in use by a gateway that runs (\`${name}\`)`);
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program uses it',
    EACCES: 'this user may not use it: ports below 1024 need CAP_NET_BIND_SERVICE',
    EADDRNOTAVAIL: 'this machine does not have the address',
  };
  return error(check, `the gateway cannot listen on ${host} (\`${name}\`): ${reasons[code] ?? code}`);
}

const tryToListen = ({ host, port }: PortPlace): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code = 'an unknown reason' }: NodeJS.ErrnoException) => resolve(code));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });

const answersAsGateway = ({ host, port }: PortPlace, timeoutMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
    const url = `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}/livez`;
    const request = get(url, { signal: AbortSignal.timeout(timeoutMs), agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('error', () => resolve(false));
  });
