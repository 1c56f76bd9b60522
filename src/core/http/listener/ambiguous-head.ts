import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../../plugin/index.ts';

/** Headers that a request has once (RFC 9110, sections 7.2 and 11.6.2). Of two, node:http keeps the first one only. */
const ONCE = ['host', 'authorization'] as const;

type Head = Pick<IncomingMessage, 'rawHeaders' | 'headers'>;

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
export function ambiguityOf({ rawHeaders, headers }: Head): string | undefined {
  const { te, 'transfer-encoding': coding } = headers;
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    return 'its Transfer-Encoding has another transfer coding than chunked';
  // RFC 9110, section 10.1.4.
  if (te !== undefined && /(?:^|,)\s*chunked\s*(?:[;,]|$)/i.test(String(te))) return 'its TE names chunked';
  const twice = ONCE.find((name) => isTwice(rawHeaders, name));
  return twice === undefined ? undefined : `it has two headers ${twice}`;
}

/** Compares lengths first: each request comes here, and most names then need no copy in lower case. */
const isTwice = (raw: readonly string[], name: string): boolean => {
  let count = 0;
  for (let at = 0; at < raw.length; at += 2) {
    const written = raw[at]!;
    if (written.length === name.length && written.toLowerCase() === name) count += 1;
  }
  return count > 1;
};
