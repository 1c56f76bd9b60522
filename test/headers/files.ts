import { testPrivateKey } from '../../src/core/providers/setup.testkit.ts';
import { canary } from './canaries.ts';
import type { ConfigPlan, EntryKind, Plan } from './generated.ts';

export const slugOf = (index: number): string => `e${index}`;
export const originOf = (index: number): string => `https://${slugOf(index)}.example.com`;
export const CUSTOM_HOST = 'own.example.net';
export const GATEWAY_KEY = canary('gateway', 'key');
export const OTHER_KEY = canary('gateway', 'other');
/** In `secret_headers` of all entries that have some, so that only the value tells the entry. CGI reads both names as one. */
const SECRET_HEADER = { openai: 'X-Entrance', azure: 'X_Entrance' };
/** An entry's own header, written over one that is forwarded. */
export const OWN_HEADER = 'x-tenant';

/** How requests to an entry prove themselves. */
export interface Secrets {
  /** Lower-case name of a header → which of the entry's secrets it holds. */
  readonly headers: Readonly<Record<string, string>>;
  readonly callersToken: boolean;
  /** The entry serves Claude, whose API reads `anthropic-beta` and `anthropic-version`. */
  readonly claude: boolean;
  readonly model: string;
}

const OPENAI = { callersToken: false, claude: false, model: 'some-model' };
const KEY = { authorization: 'key' };
const ENTRANCE = { 'x-entrance': 'entrance' };
const VERTEX_CLAUDE = 'anthropic.claude-sonnet-4-5';

export const SECRETS: Readonly<Record<EntryKind, Secrets>> = {
  'openai with a key': { ...OPENAI, headers: KEY },
  'openai without a credential': { ...OPENAI, headers: {} },
  'openai with secret headers': { ...OPENAI, headers: ENTRANCE },
  'openai with a key, headers and secret headers': { ...OPENAI, headers: { ...KEY, ...ENTRANCE } },
  azure: { ...OPENAI, headers: { 'api-key': 'key' } },
  'azure with secret headers': { ...OPENAI, headers: { 'api-key': 'key', x_entrance: 'entrance' } },
  anthropic: { headers: { 'x-api-key': 'key' }, callersToken: false, claude: true, model: 'claude-sonnet-4-5' },
  'vertex with an API key': { ...OPENAI, headers: { 'x-goog-api-key': 'key' }, model: 'gemini-2.5-flash' },
  'vertex with a service account': {
    headers: { authorization: 'token' },
    callersToken: false,
    claude: true,
    model: VERTEX_CLAUDE,
  },
  'vertex without a credential': { headers: {}, callersToken: true, claude: true, model: VERTEX_CLAUDE },
};
export const AD_HOC_MODEL = VERTEX_CLAUDE;

type Json = Readonly<Record<string, unknown>>;

/** Files of a settings folder before they are written, and the environment they name. */
export interface Files {
  readonly server: Json;
  readonly catalog: { readonly providers: readonly Json[] };
  readonly keys: { readonly keys: readonly Json[] };
  readonly gateway: Readonly<Record<string, Json>>;
  readonly env: Readonly<Record<string, string>>;
}

export function filesOf({ prefixes, auth, entries, keyHosts, configs }: Plan): Files {
  const hosts = { custom_hosts: { hosts: [CUSTOM_HOST] } };
  return {
    server: {
      header_prefixes: prefixes,
      ...(!auth && { chains: { entry: ['telemetry', 'errors', 'everybody', 'models', 'body', 'config'] } }),
    },
    catalog: { providers: entries.map((kind, index) => ({ slug: slugOf(index), ...entryOf(kind, index) })) },
    keys: {
      keys: [
        { id: 'team', key: '${env:GATEWAY_KEY}', inline_configs: true, ...(keyHosts && hosts) },
        { id: 'other', key: '${env:OTHER_KEY}' },
      ],
    },
    gateway: Object.fromEntries(configs.map((config, index) => [configId(index), configOf(config, entries)])),
    env: { GATEWAY_KEY, OTHER_KEY, ...Object.fromEntries(entries.flatMap((_, index) => envOf(index))) },
  };
}

export const configId = (index: number): string => `c${index}`;

const envOf = (index: number): readonly (readonly [string, string])[] => [
  ...['key', 'entrance'].map((what) => [`${slugOf(index)}_${what}`, canary(slugOf(index), what)] as const),
  [`${slugOf(index)}_account`, serviceAccount(slugOf(index))],
];

const serviceAccount = (slug: string): string =>
  JSON.stringify({
    type: 'service_account',
    project_id: 'a-project',
    client_email: `${slug}@a-project.iam.gserviceaccount.com`,
    private_key: testPrivateKey(),
  });

function entryOf(kind: EntryKind, index: number): Json {
  const origin = originOf(index);
  const api_key = `\${env:${slugOf(index)}_key}`;
  const entrance = `\${env:${slugOf(index)}_entrance}`;
  const secret_headers = { [SECRET_HEADER.openai]: entrance };
  const openai = { provider: 'openai', base_url: `${origin}/v1` };
  const azure = { provider: 'azure-openai', base_url: origin, api_key };
  const vertex = { provider: 'vertex-ai', base_url: origin };
  const regional = { ...vertex, region: 'us-central1', anthropic_betas: { deny: [] } };
  switch (kind) {
    case 'openai with a key':
      return { ...openai, api_key };
    case 'openai without a credential':
      return openai;
    case 'openai with secret headers':
      return { ...openai, secret_headers };
    case 'openai with a key, headers and secret headers':
      return { ...openai, api_key, secret_headers, headers: { [OWN_HEADER]: 'of-the-operator' } };
    case 'azure':
      return azure;
    case 'azure with secret headers':
      return { ...azure, secret_headers: { [SECRET_HEADER.azure]: entrance } };
    case 'anthropic':
      return { provider: 'anthropic', base_url: origin, api_key };
    case 'vertex with an API key':
      return { ...vertex, api_key };
    case 'vertex with a service account':
      return { ...regional, service_account: `\${env:${slugOf(index)}_account}` };
    case 'vertex without a credential':
      return { ...regional, project_id: 'a-project' };
  }
}

export function configOf({ forward, group, targets, customHosts }: ConfigPlan, entries: readonly EntryKind[]): Json {
  const around = forwardOf(forward);
  const hosts = customHosts ? { custom_hosts: { hosts: [CUSTOM_HOST] } } : {};
  if (targets.length === 0) return { name: 'a config', ...around, ...hosts };
  const members = {
    // Both statuses of serve.ts lead to the next target.
    strategy: { mode: 'fallback', on_status_codes: [401, 503] },
    targets: targets.map(({ entry, forward: own }) => ({
      provider: `@${slugOf(entry)}`,
      override_params: { model: SECRETS[entries[entry]!].model },
      ...forwardOf(own),
    })),
  };
  return { ...around, ...hosts, ...(group ? { targets: [{ ...forwardOf(group.forward), ...members }] } : members) };
}

const forwardOf = (names: readonly string[] | undefined): Json => (names ? { forward_headers: names } : {});

/** As `explain` names a target of the config. */
export const targetPath = ({ group }: ConfigPlan, index: number): string =>
  `config${group ? '.targets[0]' : ''}.targets[${index}]`;

/** Files as they are on a disk, by path. */
export function textsOf({ server, catalog, keys, gateway }: Files): Readonly<Record<string, string>> {
  const all = {
    server,
    catalog,
    keys,
    ...Object.fromEntries(Object.entries(gateway).map(([id, file]) => [`gateway/${id}`, file])),
  };
  return Object.fromEntries(
    Object.entries(all).map(([name, file]) => [`configs/${name}.yaml`, JSON.stringify(file, undefined, 1)]),
  );
}
