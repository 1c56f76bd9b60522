import type { Listen, ServerFile } from '../../../schemas/types.generated.ts';
import type { Environment } from '../read/resolve-references.ts';

/** Where `listen` and `status` bind without a host: nothing is open to a network that no one has opened. */
export const DEFAULT_HOST = '127.0.0.1';

/** Opens both listeners where server.yaml names no host, such as in a container, whose network is its own. */
export const HOST_VARIABLE = 'GATEHOUSE_HOST';

/** server.yaml as this environment completes it. A host in the file counts. */
export function withHost(server: ServerFile, env: Environment): ServerFile {
  const host = env[HOST_VARIABLE]?.trim();
  if (!host) return server;
  const complete = (listen: Listen | undefined): Listen => ({ host, ...listen });
  return { ...server, listen: complete(server.listen), status: complete(server.status) };
}
