import { variableOf, type Draft, type DraftPart } from './draft.ts';
import { defined, nameOf } from './names.ts';
import type { ForeignItem } from './source.ts';
import { isHome, noVendor, VENDORS, vendorAt, type Vendor } from './vendors.ts';

export interface ForeignAccount {
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

interface EntryPlace {
  readonly vendor: Vendor;
  readonly base: string | undefined;
  /** The address is not the vendor's own, or not known. */
  readonly isForeign: boolean;
  /** The wanted slug. */
  readonly name: string;
}

/** Adds the account to the catalog. Returns its slug; undefined, after a report at `item`, if it cannot be one. */
export function addAccount(draft: Draft, item: ForeignItem, account: ForeignAccount): string | undefined {
  const vendor = vendorAt(account.vendor, account.baseUrl);
  if (!vendor) return item.lose(noVendor(account.vendor));
  const { provider } = vendor;
  const base = baseOf(vendor, account);
  const fault = faultOf(vendor, base);
  if (fault !== undefined) return item.lose(fault);
  if (!VENDORS.has(account.vendor)) item.lose(`is ${account.vendor} a server with OpenAI's API? It is imported as one`);
  const place = placeOf(vendor, account, base);
  if (provider === 'vertex-ai' && place.isForeign)
    return item.lose(`do tokens of Google go to ${base}? Write the entry yourself if they do`, 'guard');
  const isOpenAi = provider === 'openai';
  const settings = defined({
    provider,
    ...(provider === 'vertex-ai' ? vertexOf(draft, account) : keyOf(draft, place, account)),
    base_url: base,
    // LiteLLM and Portkey add the endpoint to the address as it is.
    unversioned: isOpenAi && base !== undefined && isUnversioned(base) ? true : undefined,
    allow_insecure: base !== undefined && isInsecure(base) ? true : undefined,
    organization: isOpenAi ? account.organization : undefined,
    project: isOpenAi ? account.project : undefined,
    api_version: provider === 'azure-openai' ? versionOf(draft, account.apiVersion) : undefined,
    secret_headers: isOpenAi || provider === 'azure-openai' ? headersOf(draft, place, account) : lostHeaders(account),
  });
  return draft.entry(place.name, settings);
}

/** The reason for which nothing can be sent to the address. */
function faultOf({ provider, needsBase }: Vendor, base: string | undefined): string | undefined {
  if (base === undefined)
    return needsBase
      ? `names no address of the server; an entry with provider ${provider} needs \`base_url\``
      : undefined;
  if (/[@?#]/.test(base.replaceAll(REFERENCE, '')))
    return 'has an address with credentials or a query: write `base_url` without them, and `secret_headers`';
  const isAddress = isReference(base) || (URL.canParse(base) && /^https?:\/\//.test(base));
  return isAddress ? undefined : 'has an address that is no URL: it is not imported';
}

const REFERENCE = /\$\{[^}]*\}/g;

/** Names of entries and variables are those of the host, so that no key of a vendor goes to another host. */
function placeOf(
  vendor: Vendor,
  { vendor: written, slug, baseUrl }: ForeignAccount,
  base: string | undefined,
): EntryPlace {
  const variable = /^\$\{env:(\w+)\}/.exec(base ?? '')?.[1];
  const url = base !== undefined && URL.canParse(base) ? new URL(base) : undefined;
  const isForeign = baseUrl !== undefined && base !== undefined && !(url && isHome(vendor, url));
  const ofVendor = written.replaceAll('_', '-');
  const host = nameOf(url?.host.replaceAll(/[[\]:]+/g, '-') ?? variable?.toLowerCase() ?? ofVendor).replaceAll(
    '_',
    '-',
  );
  const ofHost = VENDORS.has(host) ? `${host}-server` : host;
  const isNamed = isForeign && (url !== undefined || !vendor.needsBase);
  return { vendor, base, isForeign, name: slug ?? (isNamed ? ofHost : ofVendor) };
}

function baseOf(vendor: Vendor, { vendor: name, baseUrl: own }: ForeignAccount): string | undefined {
  const { provider, baseUrl, home } = vendor;
  const written = own ?? baseUrl;
  if (written === undefined) return undefined;
  const base = written.replace(/\/+$/, '');
  // The vendor's own address is that of an entry without one.
  if (baseUrl === undefined && home !== undefined && new RegExp(`^https://${home}(?:/v1(?:beta)?)?$`).test(base))
    return undefined;
  if (provider === 'azure-openai') return base.replace(/\/openai(?:\/.*)?$/, '');
  // The gateway adds the version and the endpoint of Anthropic's API.
  if (provider === 'anthropic') return base.replace(/\/v1(?:\/messages)?$/, '');
  // Ollama's own API is beside the one that it shares with OpenAI.
  return name.startsWith('ollama') && !/\/v\d+$/.test(base) ? `${base}/v1` : base;
}

const isReference = (base: string): boolean => base.startsWith('${env:');

const isUnversioned = (base: string): boolean => !isReference(base) && !/\/v\d/.test(new URL(base).pathname);

/** Each value becomes a variable: the file does not say which ones are credentials. */
function headersOf(draft: Draft, { name: slug }: EntryPlace, { headers }: ForeignAccount): DraftPart | undefined {
  const entries = (headers?.entries() ?? []).flatMap(([name, item]): [string, string][] => {
    const value = draft.secret(item, `${slug}_${name}`, `the header ${name} for ${slug}`);
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

function keyOf(draft: Draft, { vendor, isForeign, base, name }: EntryPlace, account: ForeignAccount): DraftPart {
  const { apiKey, slug } = account;
  const { provider, variable } = vendor;
  const wanted = slug === undefined && !isForeign ? variable : variableOf(`${name}_API_KEY`);
  const purpose = `the API key for ${name}`;
  if (apiKey) {
    const reference = draft.secret(apiKey, wanted, purpose);
    if (isForeign && VENDOR_KEYS.has(String(reference)))
      draft.notes.push(
        `${apiKey.place}: ${String(reference)} goes to ${base}, as the file says: is it meant for that host?`,
      );
    return { api_key: reference };
  }
  // A server of one's own may need no key; a vendor's key came from a variable of this name.
  const isOwnServer = provider === 'openai' && base !== undefined && (isForeign || account.vendor.startsWith('ollama'));
  return isOwnServer ? {} : { api_key: draft.variable(wanted, purpose) };
}

const VENDOR_KEYS: ReadonlySet<string> = new Set(
  [...VENDORS.values()].flatMap(({ home, variable }) => (home === undefined ? [] : `\${env:${variable}}`)),
);

function vertexOf(draft: Draft, account: ForeignAccount): DraftPart {
  const { serviceAccount, vertexProject, region } = account;
  const purpose = 'the JSON key of the service account for Vertex AI';
  const path =
    typeof serviceAccount?.value === 'string' && /^[^${}]+\.json$/.test(serviceAccount.value)
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
    place: item.place,
  });
}

function versionOf(draft: Draft, item: ForeignItem | undefined): string | undefined {
  const text = draft.text(item, '2024-10-21');
  if (text === undefined || text.startsWith('${env:') || /^\d{4}-\d{2}-\d{2}(?:-preview)?$/.test(text)) return text;
  return item?.lose('is no version of the API: it must look like 2024-10-21');
}
