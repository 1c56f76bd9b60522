import type { InboundRequest } from './inbound-request.ts';

/** The headers by which clients of Portkey choose an upstream, a config and a key. */
const NAMES: ReadonlySet<string> = new Set([
  'api-key',
  'config',
  'provider',
  'virtual-key',
  'metadata',
  'trace-id',
  'custom-host',
]);
const PREFIX = 'x-portkey-';

/** Says that a header of Portkey has no effect, and the remedy; else empty. Allocates nothing: each request asks. */
export function portkeyHint(request: Pick<InboundRequest, 'headers' | 'header'>): string {
  for (const full in request.headers) {
    if (!full.startsWith(PREFIX)) continue;
    const name = full.slice(PREFIX.length);
    if (!NAMES.has(name)) continue;
    if (request.header(name) !== undefined) return '';
    return ` The header ${full} has no effect: \`header_prefixes: [gateway, portkey]\` in server.yaml makes the gateway read it.`;
  }
  return '';
}
