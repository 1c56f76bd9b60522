import { join } from 'node:path';
import { messageOf } from '../kernel/outside/thrown.ts';
import { reachableHost } from '../settings/compile/networks.ts';
import { compileServerSettings, withHost } from '../settings/compile/server-settings.ts';
import type { Environment } from '../settings/values/references.ts';
import { packageSchemas } from '../settings/schema/schemas.ts';
import { diskFiles } from '../settings/source/files.ts';
import { readSettingsFile } from '../settings/read/read-file.ts';
import type { Output } from './terminal/output.ts';

interface ReadyOptions extends Output {
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

/** Mistakes of other files do not matter, and a server.yaml with mistakes counts as empty. Undefined: port 0. */
async function statusUrl(dir: string, env: Environment): Promise<string | undefined> {
  const found = { kind: 'server', name: 'server.yaml', id: 'server', path: join(dir, 'server.yaml') } as const;
  const read = await readSettingsFile(found, { env, files: diskFiles, schemas: packageSchemas(), fakeMissing: true });
  const { host, port } = compileServerSettings(withHost(read.value ?? {}, env)).status;
  return port === 0 ? undefined : `http://${reachableHost(host)}:${port}`;
}
