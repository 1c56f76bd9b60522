import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../../plugin/index.ts';

type Head = Pick<IncomingMessage, 'rawHeaders'>;

export function refusalOfHead(head: Head): GatewayError | undefined {
  const problem = ambiguityOf(head);
  return problem === undefined
    ? undefined
    : new GatewayError('malformed_request', `The request is not valid HTTP: ${problem}.`);
}

/**
 * Why a proxy before the gateway may have read this head differently: it has checked one `Host` or credential, and the
 * gateway would use the other; or it has removed an unknown transfer coding (RFC 9112, sections 3.2, 6.1 and 11.2).
 */
export function ambiguityOf({ rawHeaders }: Head): string | undefined {
  let [hosts, credentials, codings] = [0, 0, 0];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at]!, rawHeaders[at + 1]!];
    // Most names then need no copy in lower case.
    if (!LENGTHS.has(name.length)) continue;
    switch (name.toLowerCase()) {
      case 'te':
        // RFC 9110, section 10.1.4.
        if (/(?:^|,)\s*chunked\s*(?:[;,]|$)/i.test(value)) return 'its TE names chunked';
        break;
      case 'transfer-encoding':
        codings += 1;
        if (codings > 1 || value.trim().toLowerCase() !== 'chunked')
          return 'its Transfer-Encoding has another transfer coding than chunked';
        break;
      // A request has these once (RFC 9110, sections 7.2 and 11.6.2). Of two, node:http keeps the first one only.
      case 'host':
        hosts += 1;
        if (hosts > 1) return 'it has two headers host';
        break;
      case 'authorization':
        credentials += 1;
        if (credentials > 1) return 'it has two headers authorization';
    }
  }
  return undefined;
}

const LENGTHS: ReadonlySet<number> = new Set(
  ['te', 'host', 'authorization', 'transfer-encoding'].map((name) => name.length),
);
