import type { InboundRequest } from './inbound-request.ts';

/** The headers by which clients of Portkey choose an upstream, a config and a key. */
const NAMES = ['api-key', 'config', 'provider', 'virtual-key', 'metadata', 'trace-id', 'custom-host'].map(
  (name) => ({ name, full: `x-portkey-${name}` }) as const,
);

/** Says that a header of Portkey has no effect, and the remedy; else empty. Allocates nothing: each request asks. */
export function portkeyHint(request: Pick<InboundRequest, 'headers' | 'header'>): string {
  for (let at = 0; at < NAMES.length; at += 1) {
    const { name, full } = NAMES[at]!;
    if (request.headers[full] === undefined) continue;
    if (request.header(name) !== undefined) return '';
    return ` The header ${full} has no effect: \`header_prefixes: [gateway, portkey]\` in server.yaml makes the gateway read it.`;
  }
  return '';
}
