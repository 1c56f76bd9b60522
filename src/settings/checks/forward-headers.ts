import type { Report } from '../../plugin/index.ts';
import { CONNECTION_HEADERS } from '../../providers/connection-headers.ts';
import type { Path } from '../pointer.ts';

/** Besides those of the connection: what the gateway writes itself, and `via`, the way of the one message it is on (RFC 9110, section 7.6.3). */
const NOT_FORWARDED: ReadonlySet<string> = new Set([...CONNECTION_HEADERS, 'via', 'accept']);

/** Credentials go by many names; one that is refused without need has another name soon, one that leaks is gone. */
const CREDENTIAL = new RegExp(
  [
    'authori[sz]ation|cookie|token|secret|passw|credential|signature|jwt|assertion|bearer|oidc|saml|^x-goog-user-project$',
    // `x-auth`, `x-auth-request`; not `x-authenticated-user`, `x-author`.
    '(^|[-_])(auth|otp|pat)([-_]|$)',
    // Not every key is one: `idempotency-key`. Azure has `ocp-apim-subscription-key` and `x-functions-key`.
    '(access|account|admin|api|app|application|auth|client|customer|encryption|functions|license|master|private|secure|service|session|shared|signing|storage|subscription)[-_]?key',
  ].join('|'),
);

/** @param name in lower case */
export const mayHoldCredential = (name: string): boolean => CREDENTIAL.test(name);

interface Place {
  readonly path: Path;
  readonly report: Report;
  /** Of the gateway's own headers. */
  readonly prefixes: readonly string[];
}

/** Names in `forward_headers` that must not cross: credentials never travel to an upstream, whatever a config says. */
export function checkForwardHeaders(names: readonly string[] = [], { path, report, prefixes }: Place): void {
  for (const [index, written] of names.entries()) {
    const name = written.toLowerCase();
    const reason = mayHoldCredential(name)
      ? 'may hold a credential'
      : NOT_FORWARDED.has(name)
        ? 'belongs to the connection or is written by the gateway'
        : prefixes.some((prefix) => name.startsWith(prefix))
          ? "is the gateway's own"
          : undefined;
    if (reason !== undefined)
      report({ path: [...path, 'forward_headers', index], message: `\`${written}\` ${reason} and is never forwarded` });
  }
}
