import type { CatalogEntry } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';
import { CONNECTION_HEADERS } from '../../providers/connection-headers.ts';
import { headerPrefixes } from '../compile/server-settings.ts';
import { mayHoldCredential } from '../values/credential-names.ts';
import { itemsOf, type Check } from './check.ts';

/**
 * Headers that are never forwarded: those of the connection, `accept`, which the gateway writes itself, `via`, which
 * describes the path of one message (RFC 9110, section 7.6.3), and `http2-settings`, part of `upgrade` (RFC 9113, section 3.1).
 */
const NOT_FORWARDED: ReadonlySet<string> = new Set([...CONNECTION_HEADERS, 'via', 'accept', 'http2-settings']);

/** Headers that steer an upstream. Only an operator may forward them: it obeys them under the entry's credentials. */
interface Steering {
  readonly names: RegExp;
  /** Predicate of the message, after the header's name. */
  readonly effect: string;
  /** The header overrides a choice of the gateway: an operator who forwards it gets a warning. */
  readonly doubtful?: true;
}

const STEERING: readonly Steering[] = [
  { names: /^(x-)?(http-)?method(-override)?$|^x-http-method-override$/, effect: 'changes the method', doubtful: true },
  {
    names:
      /^x-(original|rewrite|rewritten|accel|envoy|sendfile)-|^x-(http-)?host(-override)?$|^x-sendfile$|^destination$/,
    effect: 'changes the address of the request',
    doubtful: true,
  },
  {
    names:
      /^(x-)?forward(ed)?(-|$)|^(x-|true-|x-cluster-|x-appengine-|fastly-)?client-(ip|addr|host)|^(x-)?real-ip$|^cf-(connecting|pseudo)-|^x-(originating|proxyuser|remote)-(ip|addr|host)|^x-azure-|^(x-)?(url-)?scheme$|^front-end-https$|^x-arr-/,
    effect: 'states the origin of a request',
  },
  {
    names:
      /^(x-)?(authenticated|remote|webauth|consumer|ssl|tls|client-cert|userinfo|ms-client-principal|ms-token)(-|$)/,
    effect: 'states the sender of a request',
  },
  { names: /^(x-)?openai-(organi[sz]ation|project)$/, effect: 'chooses the account at OpenAI' },
  { names: /^anthropic-(organi[sz]ation|workspace|project|account)/, effect: 'chooses the account at Anthropic' },
  {
    names: /^x-goog-|^x-vertex-|^x-server-timeout$|^metadata-flavor$/,
    effect: 'is a system parameter of Google Cloud',
  },
  { names: /^azureml-|^x-ms-/, effect: 'is a system parameter of Azure' },
  { names: /^x-amzn?-/, effect: 'is a system parameter of AWS' },
  {
    names: /^(x-)?(portkey|litellm|helicone|cf-aig|kong|bifrost|gatehouse|gateway)-/,
    effect: 'steers a gateway behind this one',
  },
];

/** @param name in lower case */
export const steeringOf = (name: string): Steering | undefined =>
  STEERING.find(({ names }) => names.test(folded(name)));

export interface ForwardRules {
  /** Prefixes of the gateway's own headers. */
  readonly prefixes: readonly string[];
  /** Headers in which catalog entries send their credentials, in lower case, each with its owner. */
  readonly credentials: ReadonlyMap<string, string>;
}

/** CGI and WSGI read `X_API.Key` and `x-api-key` as one name (RFC 3875, section 4.1.18). */
const folded = (name: string): string => name.replaceAll(/[^a-z0-9]/g, '-');

/** Why a header is never forwarded; undefined: a config may forward it. @param name in lower case */
export function neverForwarded(name: string, { prefixes, credentials }: ForwardRules): string | undefined {
  const plain = folded(name);
  if (mayHoldCredential(name) || mayHoldCredential(plain)) return 'may hold a credential';
  if (NOT_FORWARDED.has(plain) || plain.startsWith('proxy-'))
    return 'belongs to the connection or is written by the gateway';
  if (prefixes.some((prefix) => plain.startsWith(folded(prefix)))) return "is one of the gateway's own headers";
  const held = [...credentials].find(([header]) => folded(header) === plain);
  return held && `holds a credential of ${held[1]} (secret_headers)`;
}

export const forwardRules = ({ server, catalog, inline }: Parameters<Check>[0]): ForwardRules => ({
  prefixes: headerPrefixes(server),
  credentials: inline?.credentials ?? credentialHeaders(catalog?.providers),
});

export const checkForwardHeaders: Check = (settings) => {
  const rules = forwardRules(settings);
  const { inline } = settings;
  const fromCaller = inline !== undefined;
  return {
    node({ file: { forward_headers: names = [] } }, report) {
      for (const [name, at] of itemsOf(names, report, 'forward_headers'))
        checkForwardHeader(name, rules, fromCaller, at);
    },
  };
};

/** A caller's credentials are never sent to an upstream. @param fromCaller the config was sent with a request */
export function checkForwardHeader(written: string, rules: ForwardRules, fromCaller: boolean, report: Report): void {
  const name = written.toLowerCase();
  const reason = neverForwarded(name, rules);
  if (reason !== undefined) return report({ path: [], message: `\`${written}\` ${reason} and is never forwarded` });
  const steering = steeringOf(name);
  if (!steering) return;
  const { effect, doubtful } = steering;
  if (fromCaller)
    report({ path: [], message: `\`${written}\` ${effect}: a config sent with a request cannot forward it` });
  else if (doubtful) {
    const message = `\`${written}\` ${effect}: callers control this at every upstream that reads the header`;
    report({ path: [], severity: 'warning', message });
  }
}

/** Headers from `secret_headers` of the entries, in lower case, each with the entry that owns it. */
export const credentialHeaders = (entries: readonly CatalogEntry[] = []): ReadonlyMap<string, string> =>
  new Map(
    entries.flatMap((entry) => {
      const secrets = 'secret_headers' in entry ? Object.keys(entry.secret_headers ?? {}) : [];
      return secrets.map((name) => [name.toLowerCase(), `@${entry.slug}`] as const);
    }),
  );
