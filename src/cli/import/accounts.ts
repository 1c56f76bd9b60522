import { variableOf, type Draft } from './draft.ts';
import { defined } from './names.ts';
import type { ForeignItem } from './source.ts';
import { VENDORS, type Vendor } from './vendors.ts';

/** An account at a vendor, as another gateway's file describes it. */
export interface ForeignAccount {
  /** The vendor's name in the file. */
  readonly vendor: string;
  /** The wanted slug. */
  readonly slug?: string;
  readonly apiKey?: ForeignItem | undefined;
  /** As settings have it, here and below: a text, or a reference. */
  readonly baseUrl?: string | undefined;
  readonly organization?: string | undefined;
  readonly project?: string | undefined;
  readonly apiVersion?: ForeignItem | undefined;
  readonly serviceAccount?: ForeignItem | undefined;
  readonly vertexProject?: string | undefined;
  readonly region?: string | undefined;
  /** Their values may be credentials. */
  readonly headers?: ForeignItem | undefined;
}

/** Adds the account to the catalog. Returns its slug; undefined, after a report at `item`, if it cannot be one. */
export function addAccount(draft: Draft, item: ForeignItem, account: ForeignAccount): string | undefined {
  const vendor = VENDORS.get(account.vendor);
  if (!vendor) return undefined;
  const { provider } = vendor;
  const base = baseOf(vendor, account);
  if (base !== undefined && /[@?#]/.test(base.replaceAll(/\$\{[^}]*\}/g, ''))) {
    item.lose('has an address with credentials or a query: write `base_url` without them, and `secret_headers`');
    return undefined;
  }
  if (vendor.needsBase && base === undefined) {
    item.lose(`names no address of the server; an entry with provider ${provider} needs \`base_url\``);
    return undefined;
  }
  const settings = defined({
    provider,
    ...(provider === 'vertex-ai' ? vertexOf(draft, account) : keyOf(draft, vendor, account)),
    base_url: base,
    allow_insecure: base !== undefined && isInsecure(base) ? true : undefined,
    organization: provider === 'openai' ? account.organization : undefined,
    project: provider === 'openai' ? account.project : undefined,
    api_version: provider === 'azure-openai' ? versionOf(account.apiVersion) : undefined,
    secret_headers:
      provider === 'openai' || provider === 'azure-openai' ? headersOf(draft, account) : lostHeaders(account),
  });
  return draft.entry(account.slug ?? account.vendor.replaceAll('_', '-'), settings);
}

const baseOf = ({ provider, baseUrl }: Vendor, { vendor, baseUrl: own }: ForeignAccount): string | undefined => {
  const written = own ?? baseUrl;
  if (written === undefined) return undefined;
  const base = written.replace(/\/+$/, '');
  if (provider === 'azure-openai') return base.replace(/\/openai(?:\/.*)?$/, '');
  // Ollama's own API is beside the one that it shares with OpenAI.
  return vendor.startsWith('ollama') && !/\/v\d+$/.test(base) ? `${base}/v1` : base;
};

/** Each value becomes a variable: the file does not say which ones are credentials. */
function headersOf(
  draft: Draft,
  { headers, slug, vendor }: ForeignAccount,
): Readonly<Record<string, unknown>> | undefined {
  const entries = (headers?.entries() ?? []).flatMap(([name, item]): [string, string][] => {
    const value = draft.secret(item, `${slug ?? vendor}_${name}`, `the header ${name} for ${slug ?? vendor}`);
    return value === undefined ? [] : [[name, value]];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function lostHeaders({ headers, vendor }: ForeignAccount): undefined {
  headers?.lose(`entries for ${vendor} have no headers of their own`);
}

/** Plain http, and addresses and names of private networks. */
function isInsecure(base: string): boolean {
  const host = URL.canParse(base) ? new URL(base).hostname : '';
  return (
    base.startsWith('http://') ||
    /^(?:localhost|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[)/.test(host) ||
    (host !== '' && !host.includes('.'))
  );
}

function keyOf(
  draft: Draft,
  { variable, provider }: Vendor,
  account: ForeignAccount,
): Readonly<Record<string, unknown>> {
  const { apiKey, slug, vendor, baseUrl } = account;
  const wanted = slug === undefined ? variable : variableOf(`${slug}_API_KEY`);
  const purpose = `the API key for ${slug ?? vendor}`;
  if (apiKey) return { api_key: draft.secret(apiKey, wanted, purpose) };
  // A server of one's own may need no key; a vendor's key came from a variable of this name.
  const isOwnServer = provider === 'openai' && (baseUrl !== undefined || vendor.startsWith('ollama'));
  return isOwnServer ? {} : { api_key: draft.variable(wanted, purpose) };
}

function vertexOf(draft: Draft, account: ForeignAccount): Readonly<Record<string, unknown>> {
  const { serviceAccount, vertexProject, region } = account;
  const purpose = 'the JSON key of the service account for Vertex AI';
  const path =
    typeof serviceAccount?.value === 'string' && serviceAccount.value.endsWith('.json')
      ? serviceAccount.value
      : undefined;
  return {
    project_id: vertexProject,
    region: region ?? 'global',
    ...(path !== undefined
      ? { service_account: `\${file:${path}}` }
      : serviceAccount
        ? { service_account: secretOf(draft, serviceAccount, purpose) }
        : { credentials: 'metadata-server' }),
  };
}

/** The key may stand in the file as an object. */
function secretOf(draft: Draft, item: ForeignItem, purpose: string): string | undefined {
  if (typeof item.value === 'string') return draft.secret(item, 'VERTEX_SERVICE_ACCOUNT', purpose);
  return draft.variable('VERTEX_SERVICE_ACCOUNT', purpose, {
    place: `${item.source.name}:${item.source.lineOf(item.path)}`,
  });
}

function versionOf(item: ForeignItem | undefined): string | undefined {
  const text = item?.text();
  if (text === undefined || /^\d{4}-\d{2}-\d{2}(?:-preview)?$/.test(text)) return text;
  item?.lose('is no version of the API: it must look like 2024-10-21');
  return undefined;
}
