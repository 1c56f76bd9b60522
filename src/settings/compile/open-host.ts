import type { Listen, ServerFile } from '../../../schemas/types.generated.ts';
import type { Environment } from '../read/resolve-references.ts';

/** Address that `listen` and `status` bind without a host: no listener is open to the network by default. */
export const DEFAULT_HOST = '127.0.0.1';

/** Sets the host of both listeners where server.yaml has none; for containers, whose network is their own. */
export const HOST_VARIABLE = 'GATEHOUSE_HOST';

/** server.yaml completed from the environment. A host in the file takes precedence. */
export function withHost(server: ServerFile, env: Environment): ServerFile {
  const host = env[HOST_VARIABLE]?.trim();
  if (!host) return server;
  const complete = (listen: Listen | undefined): Listen => ({ host, ...listen });
  return { ...server, listen: complete(server.listen), status: complete(server.status) };
}
