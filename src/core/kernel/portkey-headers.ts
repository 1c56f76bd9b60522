import type { InboundRequest } from './inbound-request.ts';
import { PORTKEY_PREFIX } from './request-head.ts';

/** Those of Portkey's headers that the gateway reads under its own prefixes. */
const NAMES: ReadonlySet<string> = new Set([
  'api-key',
  'config',
  'provider',
  'virtual-key',
  'metadata',
  'trace-id',
  'custom-host',
]);

/** Says that a header of Portkey has no effect, and the remedy; else empty. */
export function portkeyHint(request: Pick<InboundRequest, 'headers' | 'header'>): string {
  for (const full in request.headers) {
    if (!full.startsWith(PORTKEY_PREFIX)) continue;
    const name = full.slice(PORTKEY_PREFIX.length);
    if (!NAMES.has(name)) continue;
    if (request.header(name) !== undefined) return '';
    return ` The header ${full} has no effect: \`header_prefixes: [gateway, portkey]\` in server.yaml makes the gateway read it.`;
  }
  return '';
}
