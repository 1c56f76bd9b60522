import { join } from 'node:path';
import { messageOf } from '../kernel/outside/thrown.ts';
import { compileServerSettings, withHost } from '../settings/compile/server-settings.ts';
import type { Environment } from '../settings/values/references.ts';
import { packageSchemas } from '../settings/schema/schemas.ts';
import { diskFiles } from '../settings/source/files.ts';
import { readSettingsFile } from '../settings/read/read-file.ts';
import type { Output } from './terminal/output.ts';

export interface ReadyOptions extends Output {
  readonly dir: string;
  readonly env: Environment;
  /** Address of the status listener. Default: that of server.yaml. */
  readonly url: string | undefined;
  readonly timeoutMs: number;
}

/** `gatehouse ready`. Exit code 0: the gateway serves requests; 1: it does not, or does not answer. */
export async function readyCommand({ dir, env, url, timeoutMs, out, err }: ReadyOptions): Promise<0 | 1> {
  const at = url ?? (await statusUrl(dir, env));
  if (at === undefined) {
    err('gatehouse: status.port in server.yaml is 0, a free port; name the address with --url\n');
    return 1;
  }
  const { get } = await import('node:http');
  return new Promise((resolve) => {
    const end = (code: 0 | 1, text: string): void => {
      (code === 0 ? out : err)(text);
      resolve(code);
    };
    const request = get(`${at}/readyz`, { signal: AbortSignal.timeout(timeoutMs) }, (response) => {
      response.resume();
      const { statusCode } = response;
      if (statusCode === 200) end(0, 'ready\n');
      else end(1, `gatehouse: not ready: ${at}/readyz answers ${statusCode}\n`);
    });
    request.on('error', (error) => end(1, `gatehouse: not ready: ${at}/readyz: ${reasonOf(error, timeoutMs)}\n`));
  });
}

const reasonOf = (error: Error, timeoutMs: number): string =>
  error.name === 'AbortError' ? `no answer within ${timeoutMs} ms` : messageOf(error);

/**
 * Only server.yaml is read: a mistake in another file, or one that a reload has refused, does not change where the running gateway
 * listens. A server.yaml with mistakes counts as empty. Undefined: the port is not known.
 */
async function statusUrl(dir: string, env: Environment): Promise<string | undefined> {
  const found = { kind: 'server', name: 'server.yaml', id: 'server', path: join(dir, 'server.yaml') } as const;
  const read = await readSettingsFile(found, { env, files: diskFiles, schemas: packageSchemas(), fakeMissing: true });
  const { host, port } = compileServerSettings(withHost(read.value ?? {}, env)).status;
  return port === 0 ? undefined : `http://${reachable(host)}:${port}`;
}

/** Not every system can connect to an any-address. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
