import { GatewayError } from '../../src/plugin/index.ts';
import type { InboundRequest } from '../../src/core/kernel/index.ts';

/** Cache options from the request's headers. */
export interface CacheOptions {
  readonly refresh: boolean;
  readonly namespace: string | undefined;
}

/** Visible ASCII (RFC 9110, section 5.5, without spaces and obs-text). */
const NAMESPACE = /^[\x21-\x7e]{1,128}$/;

/** Throws GatewayError `invalid_header`: ignoring an invalid option could answer from the wrong cache entry. */
export function readCacheOptions(request: InboundRequest): CacheOptions {
  const refresh = request.header('cache-force-refresh');
  if (refresh !== undefined && refresh !== 'true' && refresh !== 'false')
    throw invalid(request, 'cache-force-refresh', 'must be "true" or "false"');
  const namespace = request.header('cache-namespace');
  if (namespace !== undefined && !NAMESPACE.test(namespace))
    throw invalid(request, 'cache-namespace', 'must be 1 to 128 visible ASCII characters');
  return { refresh: refresh === 'true', namespace };
}

const invalid = (request: InboundRequest, name: string, rule: string): GatewayError =>
  new GatewayError('invalid_header', `${request.headerName(name)} ${rule}.`);
