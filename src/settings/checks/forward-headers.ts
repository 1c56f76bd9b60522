import type { CatalogEntry } from '../../../schemas/types.generated.ts';
import type { Report } from '../../plugin/index.ts';
import { CONNECTION_HEADERS } from '../../providers/connection-headers.ts';
import type { Path } from '../pointer.ts';

/** Besides those of the connection: what the gateway writes itself, and `via`, the way of the one message it is on (RFC 9110, section 7.6.3). */
const NOT_FORWARDED: ReadonlySet<string> = new Set([...CONNECTION_HEADERS, 'via', 'accept']);

/** Credentials go by many names; one that is refused without need has another name soon, one that leaks is gone. */
const CREDENTIAL = new RegExp(
  [
    'authori[sz]ation|cookie|token|secret|passw|credential|signature|jwt|assertion|bearer|oidc|saml|^x-goog-user-project$',
    'passphrase|passcode|totp|hmac',
    // `x-auth`, `x-auth-request`; not `x-authenticated-user`, `x-author`.
    '(^|[-_])(auth|authn|authz|creds?|dpop|mfa|otp|pat|pwd|sas|sig)([-_]|$)',
    // `key` and `x-key`, without a word that says of what.
    '^(x[-_])?keys?$',
    // Not every key is one: `idempotency-key`. Azure has `ocp-apim-subscription-key` and `x-functions-key`.
    '(access|account|admin|api|app|application|auth|client|customer|encryption|functions|gateway|license|master|private|provider|secure|service|session|shared|signing|storage|subscription|team|user|virtual)[-_]?key',
  ].join('|'),
);

/** @param name in lower case */
export const mayHoldCredential = (name: string): boolean => CREDENTIAL.test(name);

/** What a name is refused by. */
export interface ForwardRules {
  /** Of the gateway's own headers. */
  readonly prefixes: readonly string[];
  /** By name in lower case: headers that catalog entries have their credentials in, and whose. */
  readonly credentials: ReadonlyMap<string, string>;
}

interface Place extends ForwardRules {
  readonly path: Path;
  readonly report: Report;
}

/**
 * Why a header is never sent on as it came, whatever a config says; undefined where a config may name it.
 * @param name in lower case
 */
export function neverForwarded(name: string, { prefixes, credentials }: ForwardRules): string | undefined {
  if (mayHoldCredential(name)) return 'may hold a credential';
  if (NOT_FORWARDED.has(name)) return 'belongs to the connection or is written by the gateway';
  if (prefixes.some((prefix) => name.startsWith(prefix))) return "is the gateway's own";
  const owner = credentials.get(name);
  return owner === undefined ? undefined : `holds a credential of ${owner} (secret_headers)`;
}

/** Names in `forward_headers` that must not cross: credentials never travel to an upstream, whatever a config says. */
export function checkForwardHeaders(names: readonly string[] = [], { path, report, ...rules }: Place): void {
  for (const [index, written] of names.entries()) {
    const reason = neverForwarded(written.toLowerCase(), rules);
    if (reason !== undefined)
      report({ path: [...path, 'forward_headers', index], message: `\`${written}\` ${reason} and is never forwarded` });
  }
}

/** Headers that entries write their credentials in, beside those whose names say so. */
export const credentialHeaders = (entries: readonly CatalogEntry[] = []): ReadonlyMap<string, string> =>
  new Map(
    entries.flatMap((entry) => {
      const secrets = 'secret_headers' in entry ? Object.keys(entry.secret_headers ?? {}) : [];
      return secrets.map((name) => [name.toLowerCase(), `@${entry.slug}`] as const);
    }),
  );
