import type { OpenAiEntry as OpenAiSettings } from '../../../../schemas/types.generated.ts';
import { readApiKey, readBase, type Base, NO_EXTENSIONS, readExtensions, OPENAI_APIS } from '../entry-settings.ts';
import { defineProvider } from '../definition.ts';
import { checkBodyModelName } from '../model-name.ts';
import { openAiApiEntry, type EntryParts } from './entry.ts';
import { readHeaders } from './headers.ts';
import type { Report } from '../../kernel/report.ts';
import type { Location, ProviderEntry } from '../provider.ts';

/** OpenAI, and every server with a compatible API. */
export const openai = defineProvider<OpenAiSettings>({
  name: 'openai',
  create(entry, { report }) {
    const base = readApiBase(entry, report);
    const apiKey = entry.api_key && readApiKey(entry.api_key, report);
    const own = {
      headers: {
        ...(entry.organization !== undefined && { 'openai-organization': entry.organization }),
        ...(entry.project !== undefined && { 'openai-project': entry.project }),
      },
      // Without a key there is no header rather than an empty bearer.
      credentials: { ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) },
    };
    const headers = readHeaders(entry, own, report);
    if (!base || !headers || (entry.api_key && apiKey === undefined)) return undefined;
    return openAiApiEntry({
      slug: entry.slug,
      provider: 'openai',
      // OpenTelemetry has names for some of the vendors, but the base URL does not tell which vendor it is.
      semconvName: 'openai',
      allowInsecure: entry.allow_insecure ?? false,
      origin: base.origin,
      ...headers,
      streamUsage: entry.stream_usage ?? true,
      api: entry.api ?? 'auto',
      hasResponses: isOwn(base),
      extensions: readExtensions(entry.extensions, extensionsOf(base)),
      customTools: entry.custom_tools ?? isOwn(base),
      unknownIds: entry.unknown_ids,
      place: placeUnder(base.prefix),
      proof: {
        origin: base.origin,
        path: base.prefix + (KEY_PATHS.get(base.origin) ?? '/models'),
        headers: headers.headers,
        mayBePublic: !isOwn(base),
      },
    });
  },
  speaks: ({ base_url: url, extensions }) => (url === undefined && extensions === undefined ? OPENAI_APIS : undefined),
});

/** Vendors whose list of models is public, and what tells about the key (https://openrouter.ai/docs/api-reference/limits). */
const KEY_PATHS: ReadonlyMap<string, string> = new Map([['https://openrouter.ai', '/key']]);

const placeUnder =
  (prefix: string): EntryParts['place'] =>
  (model, operationPath) => {
    checkBodyModelName(model);
    return { path: prefix + operationPath, model };
  };

/** Servers of other vendors may take anything; OpenAI refuses what it does not document. */
const extensionsOf = ({ origin }: Pick<Base, 'origin'>): Location['extensions'] =>
  isOwn({ origin }) ? NO_EXTENSIONS : undefined;

const OWN_ORIGIN = 'https://api.openai.com';
/** OpenAI has hosts for regions too: `eu.api.openai.com`. */
const isOwnHost = (hostname: string): boolean => /(?:^|\.)api\.openai\.com$/.test(hostname);
const isOwn = ({ origin }: Pick<Base, 'origin'>): boolean => isOwnHost(new URL(origin).hostname);

const OWN_PREFIX = '/v1';

/** `/v1`, `/v4`, `/v1beta`, anywhere in the path: Google's is `/v1beta/openai`. */
const VERSION = /\/v\d+[a-z0-9]*(?=\/|$)/;
const VERSION_TWICE = /(\/v\d+[a-z0-9]*)\1$/;
/** Vendors' documents often show the full endpoint as the address. */
const ENDPOINT = /\/(?:(?:chat\/)?completions|messages|embeddings|images\/generations|responses)$/;

/**
 * The base URL as for an OpenAI SDK: with the version, without the endpoint. In a base without a version the `/v1` was
 * nearly always forgotten; entries for the few APIs without one set `unversioned`.
 */
function readApiBase(entry: OpenAiSettings, report: Report): Base | undefined {
  const base = readBase(entry, OWN_ORIGIN, report);
  if (!base) return undefined;
  const { origin } = base;
  const prefix = entry.base_url === undefined ? OWN_PREFIX : base.prefix;
  const mistake = mistakeIn({ origin, prefix }, entry.api_key !== undefined);
  if (mistake !== undefined) {
    report({ path: ['base_url'], message: `base_url ${mistake}` });
    return undefined;
  }
  const unversioned = entry.unversioned ?? false;
  if (!VERSION.test(prefix) && !unversioned) {
    report({
      path: ['base_url'],
      severity: 'warning',
      message: `base_url has no version in its path, so ${OWN_PREFIX} is appended: add it to base_url, or set unversioned: true`,
    });
    return { origin, prefix: `${prefix}${OWN_PREFIX}` };
  }
  if (VERSION.test(prefix) && unversioned)
    report({
      path: ['unversioned'],
      severity: 'warning',
      message: 'unversioned has no effect: the path of base_url has a version',
    });
  return { origin, prefix };
}

function mistakeIn({ origin, prefix }: Base, hasKey: boolean): string | undefined {
  const { hostname } = new URL(origin);
  if (!hasKey && isOwnHost(hostname)) return "is OpenAI's own address, which needs an api_key";
  if (hostname.endsWith('.openai.azure.com')) return 'is an address of Azure: write provider: azure-openai';
  const endpoint = ENDPOINT.exec(prefix)?.[0];
  if (endpoint !== undefined) return `ends with ${endpoint}, which is added for each request: remove it`;
  const version = VERSION_TWICE.exec(prefix)?.[1];
  return version === undefined ? undefined : `ends with ${version} twice`;
}

/**
 * An OpenAI-compatible server that the request names. It receives the caller's own token or none: no credential of the
 * catalog goes to such a host. @param base as for an OpenAI SDK, checked against the allowed hosts
 */
export const createCustomHost = (base: URL, allowInsecure: boolean): ProviderEntry =>
  openAiApiEntry({
    slug: 'custom-host',
    provider: 'openai',
    semconvName: 'openai',
    allowInsecure,
    chosenByCaller: true,
    origin: base.origin,
    headers: {},
    credentials: 'caller',
    streamUsage: true,
    api: 'auto',
    hasResponses: isOwn(base),
    extensions: extensionsOf(base),
    customTools: isOwn(base),
    place: placeUnder(base.pathname.replace(/\/+$/, '')),
  });
