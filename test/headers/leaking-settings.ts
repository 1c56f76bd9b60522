import fc from 'fast-check';
import { prefixesOf } from './allowed.ts';
import { configId, filesOf, GATEWAY_KEY, SECRETS, slugOf, type Files } from './files.ts';
import { inAnyCase, plans, type Plan } from './generated.ts';

/** Settings with one mistake that would send a credential, or a header that may hold one, to another place. */
export interface LeakingSettings {
  readonly kind: string;
  readonly plan: Plan;
  readonly files: Files;
  /** JSON text of the wrong value or key; it occurs once in the file. */
  readonly file: string;
  readonly text: string;
  /** The header name, where the mistake is in `forward_headers`. */
  readonly forwards: string | undefined;
}

/** Names that no config may forward. */
const HOSTILE =
  `cookie set-cookie authorization proxy-authorization x-api-key api-key x-goog-api-key x-auth-token x-auth-request
  x-amz-security-token x-jwt-assertion x-session-token dpop connection keep-alive te trailer transfer-encoding upgrade expect host
  content-length content-type content-encoding accept-encoding proxy-connection via accept http2-settings`.split(/\s+/);
const OWN = ['api-key', 'config', 'metadata', 'provider', 'anthropic-beta', 'custom-host', 'trace-id'] as const;

/** CGI and WSGI read these spellings as one name (RFC 3875, section 4.1.18). */
const inAnySpelling = (name: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(inAnyCase(name), fc.constantFrom('-', '-', '_', '.'))
    .map(([text, separator]) => text.replaceAll('-', separator));

const hostileNames = ({ prefixes, entries }: Plan): fc.Arbitrary<string> => {
  const own = prefixesOf(prefixes).flatMap((prefix) => OWN.map((name) => prefix + name));
  const hasSecret = entries.some((kind) => Object.values(SECRETS[kind].headers).includes('entrance'));
  const kinds = [HOSTILE, own, ...(hasSecret ? [['x-entrance']] : [])];
  return inAnySpelling(fc.oneof(...kinds.map((names) => fc.constantFrom(...names))));
};

/** References to secrets, and one of them in base64. */
function secretTexts({ entries }: Plan): readonly string[] {
  const references = entries.flatMap((kind, index) =>
    Object.values(SECRETS[kind].headers).flatMap((what) =>
      what === 'token' ? [] : [`\${env:${slugOf(index)}_${what}}`],
    ),
  );
  return ['${env:GATEWAY_KEY}', ...references, Buffer.from(GATEWAY_KEY).toString('base64').replace(/=+$/, '')];
}

type Leak = Omit<LeakingSettings, 'plan' | 'kind'>;
type Json = Readonly<Record<string, unknown>>;

const entriesWith = (files: Files, entry: Json): Files => ({
  ...files,
  catalog: { providers: [...files.catalog.providers, { slug: 'leaking', ...entry }] },
});

const inCatalog = (files: Files, entry: Json, text: string): Leak => ({
  files: entriesWith(files, { provider: 'openai', base_url: 'https://leaking.example.com/v1', ...entry }),
  file: 'catalog',
  text,
  forwards: undefined,
});

const KINDS: Readonly<Record<string, (plan: Plan, files: Files) => fc.Arbitrary<Leak>>> = {
  'a config forwards a header that may not travel': (plan, files) =>
    fc.tuple(hostileNames(plan), fc.nat(2)).map(([name, depth]) => {
      const target = { provider: `@${slugOf(0)}` };
      const list = { forward_headers: ['x-tenant', name] };
      const around = { strategy: { mode: 'fallback' } };
      const levels = [
        { ...target, ...list },
        { ...around, targets: [{ ...target, ...list }] },
        { targets: [{ ...around, ...list, targets: [target] }] },
      ];
      const id = configId(plan.configs.length);
      const gateway = { ...files.gateway, [id]: levels[depth]! };
      return { files: { ...files, gateway }, file: `gateway/${id}`, text: JSON.stringify(name), forwards: name };
    }),
  'a secret is in a header of another entry': (plan, files) =>
    fc.constantFrom(...secretTexts(plan)).map((secret) => {
      const value = `team ${secret}`;
      return inCatalog(files, { headers: { 'x-team': value } }, JSON.stringify(value));
    }),
  'a secret is in the address of another entry': (plan, files) =>
    fc.constantFrom(...secretTexts(plan)).map((secret) => {
      const url = `https://leaking.example.com/${secret}/v1`;
      return inCatalog(files, { base_url: url }, JSON.stringify(url));
    }),
  'a secret is in the parameters of a config': (plan, files) =>
    fc.constantFrom(...secretTexts(plan)).map((secret) => {
      const id = configId(plan.configs.length);
      const value = `by ${secret}`;
      const gateway = { ...files.gateway, [id]: { provider: `@${slugOf(0)}`, override_params: { user: value } } };
      return { files: { ...files, gateway }, file: `gateway/${id}`, text: JSON.stringify(value), forwards: undefined };
    }),
  'a gateway key is the credential of an entry': (_, files) =>
    fc.boolean().map((inHeader) => {
      const text = '"${env:GATEWAY_KEY}"';
      const secret = '${env:GATEWAY_KEY}';
      return inCatalog(files, inHeader ? { secret_headers: { 'x-word': secret } } : { api_key: secret }, text);
    }),
  'an entry has a credential in a header that is no secret': (_, files) =>
    inAnyCase(fc.constantFrom('x-auth', 'authorization', 'cookie', 'x-api-key', 'x-access-token')).map((name) =>
      inCatalog(files, { headers: { [name]: 'in-clear' } }, JSON.stringify(name)),
    ),
};
export const LEAK_KINDS = Object.keys(KINDS);

export const leakingSettings: fc.Arbitrary<LeakingSettings> = fc
  // The first kind has the most variants.
  .tuple(plans, fc.oneof(fc.constant(LEAK_KINDS[0]!), fc.constantFrom(...LEAK_KINDS)))
  .chain(([plan, kind]) => KINDS[kind]!(plan, filesOf(plan)).map((leak) => ({ ...leak, kind, plan })));
